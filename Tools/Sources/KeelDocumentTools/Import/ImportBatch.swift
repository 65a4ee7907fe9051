internal import KeelStorage

/// A piece of the file: the documents that are committed together, and the bad elements among them.
struct ImportBatch: Sendable {
    /// A document, and the element that it was made of.
    struct Entry: Sendable {
        let write: DocumentWrite
        let number: Int
        let range: Range<Int>
    }

    /// An element that is not imported, and where it is in the file.
    struct Refused: Sendable {
        let element: BadElement
        let range: Range<Int>
    }

    /// What became of a batch.
    struct Outcome: Sendable {
        var imported = 0
        /// What the store will not take, however often it is sent.
        var refused: [Refused] = []
    }

    /// Where it begins in the file, in bytes.
    let start: Int
    /// Where it ends.
    var end: Int
    /// The number of its last element.
    var number: Int
    /// Whether nothing comes after it.
    var isLast = false
    var entries: [Entry] = []
    var refused: [Refused] = []
    /// How many bytes of text its documents have.
    var byteCount = 0

    init(start: Int, number: Int) {
        self.start = start
        end = start
        self.number = number
    }
}
