package import KeelDocuments
internal import Synchronization

/// The line of those who want to commit.
///
/// A store lets one transaction write at a time, and each has a cost of its own. Who comes to an empty
/// line writes at once; who comes meanwhile waits, and the next writer takes the others' batches
/// along in one transaction. Waiting holds no thread.
package final class CommitLine: Sendable {
    package typealias Outcome = Result<[Result<CommitReceipt, StorageError>], StorageError>

    /// What somebody in the line is told.
    package enum Turn: Sendable {
        /// To write; with others' batches unless the own ones are to be tried alone.
        case write(isAlone: Bool)
        /// Somebody else has written the batches, or failed to.
        case over(Outcome)
    }

    /// Somebody who waits.
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
    }

    /// How many writes are taken along: readers of the change log should not wait long for any.
    package static let mostWrites = 500

    private let state = Mutex(State())

    package init() {}

    /// How many wait.
    package var count: Int { state.withLock { $0.waiting.count } }

    /// Waits for a turn.
    ///
    /// Who is told to write calls ``leave()`` in the end. A task that is cancelled while it waits
    /// leaves the line.
    ///
    /// - Parameters:
    ///   - batches: What is to be written.
    ///   - isAlone: Whether nobody else writes it.
    /// - Returns: Whether to write.
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
                let turn = state.withLock { state -> Turn? in
                    if Task.isCancelled { return .over(.failure(.cancellation)) }
                    guard state.isWriting else {
                        state.isWriting = true
                        return .write(isAlone: false)
                    }
                    let waiter = Waiter(
                        id: own,
                        batches: batches,
                        isAlone: isAlone,
                        continuation: continuation
                    )
                    state.waiting.append(waiter)
                    return nil
                }
                if let turn { continuation.resume(returning: turn) }
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

    /// Takes those out of the line whose batches are to be written along with `count` writes.
    package func others(along count: Int) -> [Waiter] {
        state.withLock { state in
            var count = count
            let fitting = state.waiting.prefix { waiter in
                count += waiter.batches.reduce(0) { $0 + $1.writes.count }
                return !waiter.isAlone && count <= Self.mostWrites
            }
            state.waiting.removeFirst(fitting.count)
            return Array(fitting)
        }
    }

    /// Puts others back to where they were.
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

    /// Lets the next one write.
    package func leave() {
        let next = state.withLock { state -> Waiter? in
            guard !state.waiting.isEmpty else {
                state.isWriting = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        if let next { next.continuation.resume(returning: .write(isAlone: next.isAlone)) }
    }
}
