package import KeelDocuments
internal import Synchronization

/// The queue of callers that wait to commit.
///
/// A store has one write transaction at a time, and each transaction has a fixed cost. A caller that finds the queue
/// empty writes at once. Later callers wait, and the next writer includes their batches in one transaction. Waiting
/// blocks no thread.
///
/// A queue can *gather*: after a group of several callers, the next writer waits for a moment until as many are in the
/// queue again. The callers of a group often commit again at once; the first of them would write alone, while the
/// others wait for it.
package final class CommitLine: Sendable {
    package typealias Outcome = Result<[Result<CommitReceipt, StorageError>], StorageError>

    /// The instruction to a caller in the queue.
    package enum Turn: Sendable {
        /// Write, together with the batches of others unless the caller's own are to be tried alone.
        case write(isAlone: Bool)
        /// Another caller has written the batches, or failed to.
        case over(Outcome)
    }

    package struct Waiter: Sendable {
        fileprivate let id: UInt64
        package let batches: [WriteBatch]
        fileprivate var isAlone = false
        fileprivate let continuation: CheckedContinuation<Turn, Never>

        package func finish(_ outcome: Outcome) { continuation.resume(returning: .over(outcome)) }
    }

    private struct State {
        var isWriting = false
        var nextID: UInt64 = 0
        var waiting: [Waiter] = []
        /// The number of callers in the current group.
        var groupCount = 1
        /// The number of callers for which the next writer waits.
        var awaited: Int?

        /// Removes and returns the next writer, if there is one.
        mutating func next() -> Waiter? {
            awaited = nil
            guard !waiting.isEmpty else {
                isWriting = false
                return nil
            }
            return waiting.removeFirst()
        }
    }

    /// The maximum number of writes in a shared transaction, which limits the wait of change log readers.
    package static let mostWrites = 500
    /// The size in bytes of the documents in a shared transaction above which no further batch is included.
    package static let mostBytes = 4 << 20

    /// The number of callers in the smallest group after which the queue gathers.
    private static let fewestGathered = 4

    private let state = Mutex(State())
    private let gatheringLimit: Duration?

    /// Creates a queue that gathers for at most a time, or not at all.
    package init(gatheringUpTo limit: Duration? = nil) { gatheringLimit = limit }

    package var count: Int { state.withLock { $0.waiting.count } }

    /// Waits for a turn to write, or for the outcome of another caller's transaction.
    ///
    /// A caller whose turn is to write must call ``leave()`` afterwards; if `isAlone` is true, no other caller writes
    /// its batches. A task that is canceled while waiting leaves the queue.
    package func turn(for batches: [WriteBatch], isAlone: Bool = false) async -> Turn {
        let own = state.withLock { state -> UInt64? in
            guard state.isWriting else {
                state.isWriting = true
                return nil
            }
            state.nextID += 1
            return state.nextID
        }
        guard let own else { return .write(isAlone: false) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (turn, next) = state.withLock { state -> (Turn?, Waiter?) in
                    if Task.isCancelled { return (.over(.failure(.cancellation)), nil) }
                    guard state.isWriting else {
                        state.isWriting = true
                        return (.write(isAlone: false), nil)
                    }
                    let waiter = Waiter(
                        id: own,
                        batches: batches,
                        isAlone: isAlone,
                        continuation: continuation
                    )
                    state.waiting.append(waiter)
                    let isComplete = state.awaited.map { state.waiting.count >= $0 } ?? false
                    return (nil, isComplete ? state.next() : nil)
                }
                if let turn { continuation.resume(returning: turn) }
                next?.begin()
            }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                guard let place = state.waiting.firstIndex(where: { $0.id == own }) else {
                    return nil
                }
                return state.waiting.remove(at: place)
            }
            waiter?.finish(.failure(.cancellation))
        }
    }

    /// Removes and returns the callers at the front of the queue whose batches can be written along with others.
    package func others(along batches: [WriteBatch]) -> [Waiter] {
        state.withLock { state in
            var size = GroupSize()
            size.add(batches)
            let fitting = state.waiting.prefix { waiter in
                size.add(waiter.batches)
                return !waiter.isAlone && size.fits
            }
            state.waiting.removeFirst(fitting.count)
            state.groupCount = fitting.count + 1
            return Array(fitting)
        }
    }

    /// Returns callers to the front of the queue.
    package func putBack(_ waiters: [Waiter], isAlone: Bool) {
        state.withLock { state in
            let waiters = waiters.map { waiter in
                var waiter = waiter
                waiter.isAlone = isAlone
                return waiter
            }
            state.waiting.insert(contentsOf: waiters, at: 0)
        }
    }

    /// Gives the turn to the next caller.
    package func leave() {
        let (next, isGathering) = state.withLock { state -> (Waiter?, Bool) in
            let count = state.groupCount
            state.groupCount = 1
            guard gatheringLimit != nil, count >= Self.fewestGathered, state.waiting.count < count,
                state.waiting.first?.isAlone != true
            else { return (state.next(), false) }
            state.awaited = count
            return (nil, true)
        }
        next?.begin()
        guard isGathering, let gatheringLimit else { return }
        Task {
            try? await Task.sleep(for: gatheringLimit)
            // If this is late, it ends a later gathering sooner, which does no harm.
            state.withLock { state in state.awaited == nil ? nil : state.next() }?.begin()
        }
    }
}

extension CommitLine.Waiter {
    fileprivate func begin() { continuation.resume(returning: .write(isAlone: isAlone)) }
}

/// The size of a shared transaction.
private struct GroupSize {
    private var count = 0
    private var bytes = 0

    var fits: Bool { count <= CommitLine.mostWrites && bytes <= CommitLine.mostBytes }

    mutating func add(_ batches: [WriteBatch]) {
        for batch in batches {
            count += batch.writes.count
            for write in batch.writes {
                switch write.operation {
                case .set(let body, _): bytes += body.bytes.count
                case .replicate(let document): bytes += document.body.bytes.count
                // The values of fields have no size before they are encoded.
                case .update, .delete, .verify: break
                }
            }
        }
    }
}
