internal import KeelStorage

/// A part of the file: the documents of one commit, and the rejected elements among them.
struct ImportBatch: Sendable {
    struct Entry: Sendable {
        let write: DocumentWrite
        let number: Int
        let range: Range<Int>
    }

    struct Refused: Sendable {
        let element: BadElement
        let range: Range<Int>
    }

    struct Outcome: Sendable {
        var imported = 0
        /// The documents that the store permanently rejects.
        var refused: [Refused] = []
    }

    /// The offset of the beginning in the file in bytes.
    let start: Int
    /// The offset of the end in the file in bytes.
    var end: Int
    /// The number of the last element.
    var number: Int
    var isLast = false
    var entries: [Entry] = []
    var refused: [Refused] = []
    /// The size of the text of the documents in bytes.
    var byteCount = 0

    init(start: Int, number: Int) {
        self.start = start
        end = start
        self.number = number
    }
}
