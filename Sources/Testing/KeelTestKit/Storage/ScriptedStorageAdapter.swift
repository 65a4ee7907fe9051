internal import KeelCore
public import KeelStorageAdapting
internal import Synchronization

/// A storage adapter that gives prepared answers, whatever the request.
///
/// ```swift
/// let storage = StorageClient(ScriptedStorageAdapter(reads: [
///     .success(ReadResult(.documents([.stub("notes/1", ["text": "Hello"])]))),
///     .failure(StorageError(.unavailable, "offline")),
/// ]))
/// ```
///
/// Each kind of call takes the next answer from its own list; a call beyond the end of its list fails with the code
/// `unscripted`. `prepare(_:)` always succeeds. `StorageAdapter/recorded()` shows the requests.
public final class ScriptedStorageAdapter: StorageAdapter {
    private struct Script {
        var reads: ArraySlice<Result<ReadResult, StorageError>>
        var commits: ArraySlice<Result<[Result<CommitReceipt, StorageError>], StorageError>>
        var changes: ArraySlice<Result<ChangePage, StorageError>>
    }

    public let capabilities: StorageCapabilities
    private let script: Mutex<Script>

    /// Creates an adapter with its answers.
    public init(
        capabilities: StorageCapabilities = [],
        reads: [Result<ReadResult, StorageError>] = [],
        commits: [Result<[Result<CommitReceipt, StorageError>], StorageError>] = [],
        changes: [Result<ChangePage, StorageError>] = []
    ) {
        self.capabilities = capabilities
        script = Mutex(Script(reads: reads[...], commits: commits[...], changes: changes[...]))
    }

    /// The number of unused answers.
    public var remainingAnswerCount: Int {
        script.withLock { $0.reads.count + $0.commits.count + $0.changes.count }
    }

    public func prepare(_ schema: StorageSchema) async throws(StorageError) {}

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try answer(script.withLock { $0.reads.popFirst() }, to: .read)
    }

    public func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try answer(script.withLock { $0.commits.popFirst() }, to: .commit)
    }

    public func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try answer(script.withLock { $0.changes.popFirst() }, to: .changes)
    }

    private func answer<Value>(
        _ answer: Result<Value, StorageError>?,
        to kind: StorageCall.Kind
    ) throws(StorageError) -> Value {
        guard let answer else {
            throw StorageError(
                .unscripted,
                "the script has no answer left for a call of \(kind.rawValue)",
                operation: kind.rawValue
            )
        }
        return try answer.get()
    }
}

extension StorageError.Code {
    /// A test double has no answer for a call.
    public static let unscripted = Self(
        name: "unscripted",
        advice: "Give the test double an answer for each call that the test makes."
    )
}

extension Document {
    /// Returns a document for a test, as a store returns it, created and last changed at `time`.
    public static func stub(
        _ path: DocumentPath,
        _ fields: DocumentFields = [:],
        revision: Int64 = 1,
        at time: Timestamp = Timestamp(microseconds: 0)
    ) -> Document {
        Document(
            path: path,
            body: DocumentBody(fields),
            revision: Revision(number: revision),
            createTime: time,
            updateTime: time
        )
    }
}
