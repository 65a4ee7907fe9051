internal import KeelStorage
internal import KeelStorageAdapting

/// Finds out whether the client of a resumed target still has the target's result.
///
/// A client says how many documents it had when it received its token. The documents that were sent since then bound
/// the number that it has now, and the store is asked for the number in the result. With a number outside the bounds,
/// the client's documents have diverged, and the store is asked for the names in the result, so that the client can
/// drop its other documents. The client compares the number itself, and reads the target again if they still differ.
///
/// Source: googleapis/googleapis `google/firestore/v1/firestore.proto`, `Target.expected_count`, and `write.proto`,
/// `ExistenceFilter`.
struct ResultCheck {
    enum Verdict { case agrees, mayDiffer, differs }

    /// The result in the store, at a position that the client's documents must have reached for the comparison.
    struct Result {
        var position: ChangeCursor
        var count: Int
        /// The paths of the documents, if the store was asked for them.
        var paths: [DocumentPath]?
    }

    /// The number of times that the store is asked while changes prevent a comparison.
    static let mostAttempts = 3

    /// The number of documents that the client had at its token.
    private let expected: Int
    /// The position of the state that the client has been sent.
    private(set) var shown: ChangeCursor
    /// The documents that were sent since the token, and whether the client has them now.
    private var sent: [DocumentPath: Bool] = [:]
    var result: Result?
    var attempts = 0
    /// Whether the store is asked for the documents, and not only for their number.
    var needsPaths = false

    init(expected: Int, shown: ChangeCursor) {
        self.expected = expected
        self.shown = shown
    }

    /// Takes note of the steps that bring the client to a position.
    mutating func advance(to position: ChangeCursor, by steps: [TargetView.Step]) {
        shown = max(shown, position)
        for step in steps {
            if case .has = step { sent[step.path] = true } else { sent[step.path] = false }
        }
    }

    func verdict(on count: Int) -> Verdict {
        let added = sent.values.count { $0 }
        let bounds = expected - (sent.count - added)...expected + added
        guard bounds.contains(count) else { return .differs }
        return sent.isEmpty ? .agrees : .mayDiffer
    }
}
