internal import KeelStorage
internal import Synchronization

/// A handle of a write, which waits until the server accepts it.
///
/// ```swift
/// let receipt = try await outbox.enqueue(write)    // on disk: the user may go on
/// let reply = try await receipt.server()           // taken by the server
/// ```
///
/// The write is sent even if the receipt is released.
public final class OutboxReceipt: Sendable {
    typealias Outcome = Result<OutboxReply, OutboxError>

    private struct State {
        var outcome: Outcome?
        var outcomeCount = 0
        /// The value of ``OutboxCore/resendCount`` when the write was last sent again.
        var resend = 0
        var nextWaiter = 0
        var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]
    }

    /// The id of the write.
    public let id: String

    private let outbox: OutboxCore
    private let state = Mutex(State())

    init(_ id: String, _ outbox: OutboxCore) {
        self.id = id
        self.outbox = outbox
    }

    deinit { outbox.receipts.forget(id) }

    /// The last known stage of the write; `local` also for a rejected write and an unknown id.
    public var stage: CommitStage {
        state.withLock { state in
            if case .success = state.outcome { .server } else { .local }
        }
    }

    /// Waits until the server has accepted the write.
    ///
    /// Requires a runner, such as ``Outbox/run(sending:)``, in this process, even if another process sends the write.
    ///
    /// - Returns: The reply of the server.
    /// - Throws: ``OutboxError/Code/rejected``; ``OutboxError/Code/discarded``; ``OutboxError/Code/damaged`` for a
    ///   write that cannot be read; ``OutboxError/Code/notFound`` for a write that was never enqueued or ended more
    ///   than seven days ago; or ``OutboxError/Code/cancelled`` if the calling task is canceled, which does not affect
    ///   the write.
    @discardableResult
    public func server() async throws(OutboxError) -> OutboxReply {
        let (count, resend) = state.withLock { ($0.outcomeCount, $0.resend) }
        // Also after a failure: another process may have had the write sent again.
        if stage == .local, let found = await outbox.lookUp(id) {
            if let found {
                fulfil(found, since: resend)
            } else {
                forgetFailure(unlessAfter: count)
            }
            // Not stored, because the write may be enqueued or become readable later.
            if case .failure(let error)? = found, error.isOfTheMoment { throw error }
        }
        let waiter = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known = state.withLock { state -> Outcome? in
                    if let outcome = state.outcome { return outcome }
                    if Task.isCancelled { return .failure(OutboxError(.cancelled)) }
                    state.waiters[waiter] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let continuation = state.withLock { $0.waiters.removeValue(forKey: waiter) }
            continuation?.resume(returning: .failure(OutboxError(.cancelled)))
        }
        return try outcome.get()
    }

    var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// The value of ``OutboxCore/resendCount`` when the write was last sent again.
    var resend: Int { state.withLock { $0.resend } }

    /// Resumes the waiting tasks.
    ///
    /// - Parameters:
    ///   - outcome: The outcome.
    ///   - count: ``OutboxCore/resendCount`` before the outcome was stored, or before the attempt; or ``resend`` before
    ///     the outcome was read. The outcome is ignored if the app has edited the write or had it sent again since.
    func fulfil(_ outcome: Outcome, since count: Int = .max) {
        let waiters = state.withLock { state -> [Int: CheckedContinuation<Outcome, Never>] in
            if case .success = state.outcome { return [:] }
            if state.resend > count { return [:] }
            state.outcomeCount += 1
            if case .failure(let error) = outcome, error.isOfTheMoment {
                state.outcome = nil
            } else {
                state.outcome = outcome
            }
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.resume(returning: outcome) }
    }

    /// Clears a failure, unless there is an outcome after `count` ones.
    private func forgetFailure(unlessAfter count: Int) {
        state.withLock { state in
            if state.outcomeCount == count { state.outcome = nil }
        }
    }

    func reopen(resend: Int = 0) {
        state.withLock { state in
            state.resend = max(state.resend, resend)
            if case .failure = state.outcome { state.outcome = nil }
        }
    }
}

extension OutboxError {
    /// Whether the outcome can change without a decision of the app.
    fileprivate var isOfTheMoment: Bool { code == .notFound || code == .damaged }
}

/// The stage of a write.
public enum CommitStage: Sendable, Hashable {
    /// The write is stored on this device and will be sent.
    case local
    /// The server has accepted the write.
    case server
}

/// The server's reply to an accepted write.
public struct OutboxReply: Sendable, Hashable {
    /// The reply as returned by the sender; nil if another process or an earlier launch sent the write, or if nothing
    /// held its receipt when it was accepted.
    public let body: [UInt8]?

    /// Creates a reply.
    public init(body: [UInt8]?) { self.body = body }
}

final class ReceiptTable: Sendable {
    private struct Entry { weak var receipt: OutboxReceipt? }

    /// The receipts by the bytes of their ids: strings as keys would merge canonically equivalent ones.
    private let entries = Mutex<[[UInt8]: Entry]>([:])

    func receipt(for id: String, _ outbox: OutboxCore) -> OutboxReceipt {
        let key = Array(id.utf8)
        return entries.withLock { entries in
            if let kept = entries[key]?.receipt { return kept }
            let made = OutboxReceipt(id, outbox)
            entries[key] = Entry(receipt: made)
            return made
        }
    }

    subscript(id: String) -> OutboxReceipt? {
        let key = Array(id.utf8)
        return entries.withLock { $0[key]?.receipt }
    }

    var awaited: [OutboxReceipt] {
        let kept = entries.withLock { $0.values.compactMap(\.receipt) }
        return kept.filter(\.isAwaited)
    }

    func forget(_ id: String) {
        let key = Array(id.utf8)
        // Returned out of the lock: this may be the last reference, and `deinit` takes the lock again.
        _ = entries.withLock { entries -> OutboxReceipt? in
            // A new receipt may have replaced the one being released.
            let kept = entries[key]?.receipt
            if kept == nil { entries[key] = nil }
            return kept
        }
    }
}
