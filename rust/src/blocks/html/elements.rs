//! The elements that text and structure ask for, and which of them are open.

use crate::blocks::Block as Placed;
use crate::blocks::nesting::{Container, Nesting};

/// What an element means for the text. Names that are not here change nothing: what they hold goes
/// on in the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Element {
    /// A block without a meaning of its own: `div`, `section`.
    Block,
    Paragraph,
    Heading,
    /// `ul`, `ol` and their like.
    List,
    /// `dl`.
    Definitions,
    /// `li`.
    Item,
    /// `dt`, `dd`.
    Definition,
    Quote,
    /// `pre` and its like.
    Pre,
    Table,
    Caption,
    /// `thead`.
    Head,
    /// `tbody`, `tfoot`.
    Body,
    Row,
    /// `td`.
    Cell,
    /// `th`.
    HeadCell,
    // From here on nothing stays open.
    /// `br`.
    Break,
    /// `hr`.
    Rule,
    Title,
    /// What holds no text for a reader: `script`, `style`.
    Dropped,
    /// Dropped as well, but a tree of tags: `template`.
    Template,
    /// As `Template`.
    Drawing,
    /// Its text stands apart from its neighbours, in the same line: `option`, `button`.
    Apart,
    /// `a`.
    Anchor,
    Other,
}

use Element::{
    Anchor, Apart, Block, Body, Break, Caption, Cell, Definition, Definitions, Drawing, Dropped,
    Head, HeadCell, Heading, Item, List, Other, Paragraph, Pre, Quote, Row, Rule, Table, Template,
    Title,
};

/// How many kinds of elements can be open.
const KINDS: usize = Break as usize;

impl Element {
    /// The element of a name in lower case.
    pub(super) fn from_name(name: &[u8]) -> Self {
        match name {
            b"a" => Anchor,
            b"p" => Paragraph,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Heading,
            b"ul" | b"ol" | b"menu" | b"dir" => List,
            b"dl" => Definitions,
            b"li" => Item,
            b"dt" | b"dd" => Definition,
            b"blockquote" => Quote,
            b"pre" | b"listing" | b"xmp" | b"plaintext" => Pre,
            b"table" => Table,
            b"caption" => Caption,
            b"thead" => Head,
            b"tbody" | b"tfoot" => Body,
            b"tr" => Row,
            b"td" => Cell,
            b"th" => HeadCell,
            b"br" => Break,
            b"hr" => Rule,
            b"title" => Title,
            b"script" | b"style" | b"iframe" | b"noembed" | b"noframes" | b"noscript" => Dropped,
            b"template" => Template,
            b"svg" => Drawing,
            b"option" | b"optgroup" | b"select" | b"button" | b"textarea" => Apart,
            b"address" | b"article" | b"aside" | b"body" | b"center" | b"details" | b"dialog"
            | b"div" | b"fieldset" | b"figcaption" | b"figure" | b"footer" | b"form"
            | b"header" | b"hgroup" | b"html" | b"legend" | b"main" | b"nav" | b"search"
            | b"section" | b"summary" => Block,
            _ => Other,
        }
    }

    /// Whether an end that stands inside of this one cannot close what stands outside.
    fn is_scope(self) -> bool {
        matches!(self, Table | Caption | Cell | HeadCell)
    }

    /// What it is, if it adds to the depth of what it holds.
    fn container(self, ordered: bool) -> Option<Container> {
        match self {
            List => Some(Container::List { ordered }),
            Definitions => Some(Container::List { ordered: false }),
            Item | Definition => Some(Container::Item),
            Quote => Some(Container::Other),
            _ => None,
        }
    }
}

/// An element that is open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) element: Element,
    /// A heading's level; 0 once something that is no part of it has begun. Of a list, 1 if its items
    /// are numbered.
    pub(super) level: u16,
    /// Of an item: whether its own text is still to come.
    pub(super) fresh: bool,
    /// One more than the place of the next outer element of the kind; 0 where there is none.
    outer: usize,
    /// The same of what bounds ends.
    outer_scope: usize,
}

/// The elements that are open, outermost first. What is asked is answered without a search, so
/// that ten thousand ends without a start cost as little as they say.
#[derive(Debug, Default)]
pub(super) struct Elements {
    open: Vec<Open>,
    /// For each kind one more than the place of the innermost; 0 where none is open.
    innermost: [usize; KINDS],
    scope: usize,
    /// The lists, items and quotes among them.
    nesting: Nesting,
}

impl Elements {
    pub(super) fn push(&mut self, element: Element, level: u16) {
        let place = self.open.len() + 1;
        let innermost = &mut self.innermost[element as usize];
        let entry = Open {
            element,
            level,
            fresh: matches!(element, Item | Definition),
            outer: std::mem::replace(innermost, place),
            outer_scope: self.scope,
        };
        if element.is_scope() {
            self.scope = place;
        }
        if let Some(container) = element.container(level > 0) {
            self.nesting.enter(container);
        }
        self.open.push(entry);
    }

    pub(super) fn pop(&mut self) -> Option<Open> {
        let entry = self.open.pop()?;
        self.innermost[entry.element as usize] = entry.outer;
        self.scope = entry.outer_scope;
        if entry.element.container(false).is_some() {
            self.nesting.leave();
        }
        Some(entry)
    }

    /// One more than the place of the innermost element of the kind, 0 if there is none: the
    /// larger, the further in.
    pub(super) fn innermost_of(&self, element: Element) -> usize {
        self.innermost[element as usize]
    }

    /// The place of the innermost element of the kind if no table's border is between.
    pub(super) fn in_scope(&self, element: Element) -> Option<usize> {
        let place = self.innermost_of(element);
        (place > self.scope).then_some(place)
    }

    /// The place of the innermost element of the kind inside of the innermost table.
    pub(super) fn in_table(&self, element: Element) -> Option<usize> {
        let place = self.innermost_of(element);
        (place > self.innermost_of(Table)).then_some(place)
    }

    /// The element at a place.
    pub(super) fn at(&mut self, place: usize) -> Option<&mut Open> {
        self.open.get_mut(place.checked_sub(1)?)
    }

    pub(super) fn innermost(&self) -> Option<Element> {
        self.open.last().map(|entry| entry.element)
    }

    /// How many are open.
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// How many lists, items and quotes are open.
    pub(super) fn depth(&self) -> usize {
        self.nesting.depth()
    }

    /// A block that stands in the outermost `depth` of them.
    pub(super) fn place(&mut self, depth: usize, block: Placed) -> Placed {
        self.nesting.place_at(depth, block)
    }

    /// Takes back that a block was placed: it has turned out to be none.
    pub(super) fn unplace(&mut self, block: &Placed) {
        self.nesting.share(block.shared.into());
    }

    /// What must close before an element starts: all from the given place on.
    pub(super) fn closed_by_start(&self, element: Element) -> Option<usize> {
        match element {
            Item => {
                let place = self.in_scope(Item)?;
                (place > self.innermost_of(List)).then_some(place)
            }
            Definition => {
                let place = self.in_scope(Definition)?;
                (place > self.innermost_of(Definitions)).then_some(place)
            }
            Heading if self.innermost() == Some(Heading) => Some(self.len()),
            Cell | HeadCell => self.first_in_table(&[Cell, HeadCell, Caption]),
            Row => self.first_in_table(&[Row, Cell, HeadCell, Caption]),
            Head | Body => self.first_in_table(&[Head, Body, Row, Cell, HeadCell, Caption]),
            Caption => self.first_in_table(&[Caption, Head, Body, Row, Cell, HeadCell]),
            // A paragraph inside of an item or a quote is not that of the outside.
            _ => self.in_scope(Paragraph).filter(|&place| place == self.len()),
        }
    }

    /// What an end closes: all from the given place on. `None` for an end without a start.
    pub(super) fn closed_by_end(&self, element: Element) -> Option<usize> {
        match element {
            Table => Some(self.innermost_of(Table)).filter(|&place| place > 0),
            Caption | Head | Body | Row | Cell | HeadCell => self.in_table(element),
            Item => self.in_scope(Item).filter(|&place| place > self.innermost_of(List)),
            _ => self.in_scope(element),
        }
    }

    /// The outermost of the innermost elements of some kinds inside of the innermost table.
    fn first_in_table(&self, elements: &[Element]) -> Option<usize> {
        elements.iter().filter_map(|&element| self.in_table(element)).min()
    }
}
