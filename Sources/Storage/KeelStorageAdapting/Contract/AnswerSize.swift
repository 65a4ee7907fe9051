package import KeelDocuments

/// The size of an answer's documents, by which an adapter limits the answer.
package struct AnswerSize: Sendable {
    /// The approximate size of a document in bytes, without its body.
    private static let overhead = 400

    private let most: Int?
    /// The approximate size so far, in bytes; 0 without a limit.
    package private(set) var bytes = 0

    /// Creates the size of an empty answer, which is full at `most` bytes, at least 1; nil for no limit.
    package init(most: Int?) {
        // An answer has a document, however low its limit.
        self.most = most.map { max(1, $0) }
    }

    package var isFull: Bool { most.map { bytes >= $0 } ?? false }

    /// Whether the size exceeds the limit by more than about half.
    package var isFarOver: Bool { most.map { bytes - bytes / 3 > $0 } ?? false }

    /// Adds a document, and the size of other data held with it in bytes.
    package mutating func add(_ document: Document, with more: Int = 0) {
        guard most != nil else { return }
        bytes += Self.overhead + document.body.bytes.count + more
    }

    package mutating func add(_ change: ChangePage.Change) {
        if case .current(let document) = change { add(document) }
    }

    /// Returns the number of leading documents at which an answer is full.
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
