#if PostgreSQL
internal import KeelStorageAdapting
internal import Synchronization

/// Combines concurrent reads of single documents.
///
/// A read starts at once while fewer than ``mostAtOnce`` are under way. Others wait until one of these ends, and are
/// then answered by one statement. Each read sees every commit that returned before it began, because its statement
/// starts later.
final class PointReads: Sendable {
    typealias Answer = Result<ReadResult, StorageError>
    /// Returns the answer for each path.
    typealias LookUp = @Sendable ([DocumentPath]) async -> [Answer]

    /// The maximum number of statements at the same time, for which queries leave enough connections.
    static let mostAtOnce = 2
    /// The maximum number of documents that a statement reads, which bounds the memory for its rows.
    static let mostInGroup = 32

    private struct Waiter {
        let id: UInt64
        let path: DocumentPath
    }

    private struct State {
        var runningCount = 0
        var nextID: UInt64 = 0
        /// The waiting reads in their order, including canceled ones.
        var waiting: [Waiter] = []
        /// The reads whose callers have no answer yet.
        var callers: [UInt64: CheckedContinuation<Answer, Never>] = [:]

        mutating func takesPlace() -> Bool {
            guard runningCount < mostAtOnce else { return false }
            runningCount += 1
            return true
        }
    }

    private let lookUp: LookUp
    private let state = Mutex(State())

    init(_ lookUp: @escaping LookUp) { self.lookUp = lookUp }

    /// Reads a document.
    ///
    /// - Returns: The answer for its path alone, with ``ReadResult/unreadable`` if it cannot be read.
    /// - Throws: `StorageError/Code/cancelled` as soon as the task is canceled, and the error of the statement.
    func document(at path: DocumentPath) async throws(StorageError) -> ReadResult {
        guard state.withLock({ $0.takesPlace() }) else { return try await answer(for: path).get() }
        defer { goOn() }
        return try await lookUp([path])[0].get()
    }

    /// The number of reads whose callers wait for others to end.
    var waitingCount: Int { state.withLock { $0.callers.count } }

    private func answer(for path: DocumentPath) async -> Answer {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isCanceled, isFirst) = state.withLock { state in
                    guard !Task.isCancelled else { return (true, false) }
                    state.waiting.append(Waiter(id: id, path: path))
                    state.callers[id] = continuation
                    // A place may have become free.
                    return (false, state.takesPlace())
                }
                if isCanceled { continuation.resume(returning: .failure(.cancellation)) }
                if isFirst { goOn() }
            }
        } onCancel: {
            let caller = state.withLock { $0.callers.removeValue(forKey: id) }
            caller?.resume(returning: .failure(.cancellation))
        }
    }

    /// Answers the reads that wait, and then gives the place back.
    private func goOn() {
        guard var group = nextGroup() else { return }
        // No caller's task, because the end of one would end the reads of the others.
        Task.detached { [self] in
            while true {
                let answers = await lookUp(group.map(\.path))
                for (waiter, answer) in zip(group, answers) {
                    let caller = state.withLock { $0.callers.removeValue(forKey: waiter.id) }
                    caller?.resume(returning: answer)
                }
                guard let next = nextGroup() else { return }
                group = next
            }
        }
    }

    /// Removes and returns the first waiting reads; nil, and gives the place back, if there are none.
    private func nextGroup() -> [Waiter]? {
        state.withLock { state in
            state.waiting.removeAll { state.callers[$0.id] == nil }
            guard !state.waiting.isEmpty else {
                state.runningCount -= 1
                return nil
            }
            let group = Array(state.waiting.prefix(Self.mostInGroup))
            state.waiting.removeFirst(group.count)
            return group
        }
    }
}
#endif
