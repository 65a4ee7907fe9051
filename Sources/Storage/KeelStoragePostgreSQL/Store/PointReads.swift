#if PostgreSQL
internal import KeelStorageAdapting
internal import Synchronization

/// Combines concurrent reads of single documents.
///
/// A read starts at once while fewer than ``mostAtOnce`` are running. Others wait until one ends, and are then answered
/// by one statement. As it starts later, each read sees every commit that returned before the read began.
final class PointReads: Sendable {
    typealias Answer = Result<ReadResult, StorageError>
    /// Takes the answers of a group, in the order of its paths, and returns the paths of the next group: none at the
    /// end.
    typealias Continue = @Sendable ([Answer]) -> [DocumentPath]
    typealias LookUp = @Sendable ([DocumentPath], @escaping Continue) async -> Void

    /// The maximum number of statements at a time, for which queries leave connections.
    static let mostAtOnce = 2
    /// The maximum number of documents per statement, which bounds the memory for its rows: a body has up to 1 MiB.
    static let mostInGroup = 32
    /// The maximum number of groups in a row on a connection, before other work may have it.
    static let mostInRow = 16

    private struct Waiter {
        let id: UInt64
        let path: DocumentPath
    }

    private struct Caller {
        let continuation: CheckedContinuation<Answer, Never>
        /// The group that reads the document; nil while the caller waits for one.
        var group: UInt64?
    }

    private struct Group {
        let task: Task<Void, Never>
        /// The number of callers that have not been canceled.
        var callerCount: Int
    }

    private struct State {
        var runningCount = 0
        var nextID: UInt64 = 0
        /// The waiting reads in order, including canceled ones, from ``first`` on.
        private var waiting: [Waiter] = []
        private var first = 0
        var callers: [UInt64: Caller] = [:]
        /// The running groups, each by the number of its first read.
        var groups: [UInt64: Group] = [:]

        mutating func takesPlace() -> Bool {
            guard runningCount < mostAtOnce else { return false }
            runningCount += 1
            return true
        }

        mutating func wait(_ waiter: Waiter, _ continuation: CheckedContinuation<Answer, Never>) {
            waiting.append(waiter)
            callers[waiter.id] = Caller(continuation: continuation)
        }

        mutating func nextWaiters() -> [Waiter] {
            var next: [Waiter] = []
            while first < waiting.count, next.count < mostInGroup {
                if callers[waiting[first].id] != nil { next.append(waiting[first]) }
                first += 1
            }
            // Compacting rarely moves each read about once.
            if first * 2 >= waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
            return next
        }

        mutating func begin(_ waiters: [Waiter], in task: Task<Void, Never>) {
            let number = waiters[0].id
            groups[number] = Group(task: task, callerCount: waiters.count)
            for waiter in waiters { callers[waiter.id]?.group = number }
        }

        /// Removes and returns the caller of a canceled read, and cancels its group's task if the group has no other.
        mutating func cancel(_ id: UInt64) -> Caller? {
            guard let caller = callers.removeValue(forKey: id) else { return nil }
            guard let number = caller.group else { return caller }
            groups[number]?.callerCount -= 1
            // A statement that hangs would keep its place. Later, the task may have gone on with another group.
            if groups[number]?.callerCount == 0 { groups[number]?.task.cancel() }
            return caller
        }

        /// Ends a group, and begins one of the first waiting reads if the group's task is to go on.
        ///
        /// - Returns: The callers of the ended group with their answers, and the reads of the next group.
        mutating func end(
            _ waiters: [Waiter],
            _ answers: [Answer],
            goingOn: Bool
        ) -> ([(Caller, Answer)], next: [Waiter]) {
            let group = groups.removeValue(forKey: waiters[0].id)
            let ended = zip(waiters, answers).compactMap { waiter, answer in
                callers.removeValue(forKey: waiter.id).map { ($0, answer) }
            }
            guard let group, goingOn, !group.task.isCancelled else { return (ended, []) }
            let next = nextWaiters()
            if !next.isEmpty { begin(next, in: group.task) }
            return (ended, next)
        }
    }

    private let lookUp: LookUp
    private let state = Mutex(State())

    init(_ lookUp: @escaping LookUp) { self.lookUp = lookUp }

    /// Reads a document.
    ///
    /// - Returns: The answer for its path alone, with ``ReadResult/unreadable`` if it cannot be read.
    /// - Throws: `StorageError/Code/cancelled`, and the error of the statement.
    func document(at path: DocumentPath) async throws(StorageError) -> ReadResult {
        guard state.withLock({ $0.takesPlace() }) else { return try await answer(for: path).get() }
        defer { goOn() }
        let found = Mutex<Answer?>(nil)
        await lookUp([path]) { answers in
            found.withLock { $0 = answers[0] }
            return []
        }
        guard let answer = found.withLock({ $0 }) else { throw .cancellation }
        return try answer.get()
    }

    /// The number of callers that wait for a group, or for its answer.
    var waitingCount: Int { state.withLock { $0.callers.count } }

    private func answer(for path: DocumentPath) async -> Answer {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isCanceled, isFirst) = state.withLock { state in
                    // If the task is already canceled, its handler has run without finding this read.
                    guard !Task.isCancelled else { return (true, false) }
                    state.wait(Waiter(id: id, path: path), continuation)
                    // A place may have become free.
                    return (false, state.takesPlace())
                }
                if isCanceled { continuation.resume(returning: .failure(.cancellation)) }
                if isFirst { goOn() }
            }
        } onCancel: {
            let caller = state.withLock { $0.cancel(id) }
            caller?.continuation.resume(returning: .failure(.cancellation))
        }
    }

    /// Passes a place on to the first waiting reads, or gives it back.
    private func goOn() {
        state.withLock { state in
            let waiters = state.nextWaiters()
            guard !waiters.isEmpty else {
                state.runningCount -= 1
                return
            }
            // In a task of its own, because the end of one caller's task would end the reads of the others. It waits
            // for the lock before it ends the group.
            let task = StorageContext.withoutContext {
                Task { [self] in
                    await answer(waiters)
                    goOn()
                }
            }
            state.begin(waiters, in: task)
        }
    }

    /// Answers reads, and those that wait afterwards.
    private func answer(_ waiters: [Waiter]) async {
        let progress = Mutex((group: waiters, count: 1))
        await lookUp(waiters.map(\.path)) { [self] answers in
            progress.withLock { progress in
                let (ended, next) = state.withLock {
                    $0.end(progress.group, answers, goingOn: progress.count < Self.mostInRow)
                }
                for (caller, answer) in ended { caller.continuation.resume(returning: answer) }
                progress = (next, progress.count + 1)
                return next.map(\.path)
            }
        }
    }
}
#endif
