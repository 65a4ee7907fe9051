internal import KeelStorage
internal import KeelStorageAdapting

/// Finds out whether the client of a resumed target still has the target's result.
///
/// A client says how many documents it had with its token. Those sent since then bound the number that it has now. If
/// the number in the store's result is outside these bounds, the store is asked for the names in the result, so that
/// the client can drop its other documents. The client compares the number itself, and reads the target again if they
/// still differ.
///
/// Source: googleapis/googleapis `google/firestore/v1/firestore.proto`, `Target.expected_count`, and `write.proto`,
/// `ExistenceFilter`.
struct ResultCheck {
    enum Verdict { case agrees, mayDiffer, differs }

    struct Result {
        var position: ChangeCursor
        var count: Int
        var paths: [DocumentPath]?
    }

    /// How often the store is asked while changes prevent a comparison.
    static let mostAttempts = 3

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
