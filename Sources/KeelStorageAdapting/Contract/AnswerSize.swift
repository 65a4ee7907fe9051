package import KeelDocuments

/// Counts the bytes of the documents of an answer, to end it in time.
package struct AnswerSize: Sendable {
    /// About how many bytes a document takes beside its body.
    private static let overhead = 400

    private let most: Int?
    private var bytes = 0

    /// Creates the count of an answer.
    ///
    /// - Parameter most: The number of bytes at which the answer ends; nil for no limit.
    package init(most: Int?) { self.most = most }

    /// Whether the answer ends here.
    package var isFull: Bool { most.map { bytes >= $0 } ?? false }

    /// Whether the answer has half as many bytes again as it should have.
    package var isFarOver: Bool { most.map { bytes - bytes / 3 > $0 } ?? false }

    /// Counts a document, and so many bytes that are held beside it.
    package mutating func add(_ document: Document, with more: Int = 0) {
        guard most != nil else { return }
        bytes += Self.overhead + document.body.bytes.count + more
    }

    /// Counts the document of a change, where it has one.
    package mutating func add(_ change: ChangePage.Change) {
        if case .current(let document) = change { add(document) }
    }

    /// How many of some documents an answer has until it is full.
    package static func count(
        of documents: some Sequence<Document?>,
        upTo most: Int?
    ) -> Int {
        var size = AnswerSize(most: most)
        var count = 0
        for document in documents where !size.isFull {
            count += 1
            if let document { size.add(document) }
        }
        return count
    }
}
