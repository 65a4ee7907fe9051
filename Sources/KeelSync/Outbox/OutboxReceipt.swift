internal import KeelStorage
internal import Synchronization

/// What an outbox gives for a write: the proof of its first stage, and the wait for the second.
///
/// ```swift
/// let receipt = try await outbox.enqueue(write)    // on disk: the user may go on
/// let reply = try await receipt.server()           // taken by the server
/// ```
///
/// The write is sent whether or not anybody keeps its receipt.
public final class OutboxReceipt: Sendable {
    typealias Outcome = Result<OutboxReply, OutboxError>

    private struct State {
        var outcome: Outcome?
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

    /// How far the write had come when it was last looked at: kept here, or taken by the server.
    public var stage: CommitStage {
        state.withLock { state in
            if case .success = state.outcome { .server } else { .local }
        }
    }

    /// Waits until the server has taken the write.
    ///
    /// That needs a runner: ``Outbox/run(sending:)`` in this process. Where another process sends
    /// the write, this one's runner notices, and the reply is not known here.
    ///
    /// - Returns: What the server said.
    /// - Throws: ``OutboxError/Code/rejected``, ``OutboxError/Code/discarded``,
    ///   ``OutboxError/Code/damaged`` for a write that cannot be read, ``OutboxError/Code/notFound``
    ///   for one that was never put in, or ended more than seven days ago, or
    ///   ``OutboxError/Code/cancelled`` when the calling task is, which leaves the write where it is.
    @discardableResult
    public func server() async throws(OutboxError) -> OutboxReply {
        if state.withLock({ $0.outcome == nil }), let found = await outbox.lookUp(id) {
            fulfil(found)
            // Not kept: the write may be put in later, or be readable again.
            if case .failure(let error) = found, error.isOfTheMoment { throw error }
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

    /// Whether somebody waits for the server.
    var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// Tells those who wait; a rejected write that is sent again can be waited for anew.
    func fulfil(_ outcome: Outcome) {
        let waiters = state.withLock { state -> [Int: CheckedContinuation<Outcome, Never>] in
            if case .success = state.outcome { return [:] }
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

    /// Forgets a rejection, because the write is sent again.
    func reopen() {
        state.withLock { state in
            if case .failure = state.outcome { state.outcome = nil }
        }
    }
}

extension OutboxError {
    /// Whether asking again can bring another answer without anybody having decided anything.
    fileprivate var isOfTheMoment: Bool { code == .notFound || code == .damaged }
}

/// How far a write has come.
public enum CommitStage: Sendable, Hashable {
    /// It is kept on this device and will be sent.
    case local
    /// The server took it.
    case server
}

/// What is known of a write that the server took.
public struct OutboxReply: Sendable, Hashable {
    /// What the sender gave back; nil where another process or an earlier launch sent the write.
    public let body: [UInt8]?

    /// Creates a reply.
    public init(body: [UInt8]?) { self.body = body }
}

/// The receipts that somebody keeps.
final class ReceiptTable: Sendable {
    private struct Entry { weak var receipt: OutboxReceipt? }

    private let entries = Mutex<[String: Entry]>([:])

    /// The receipt of a write, a new one where nobody keeps one.
    func receipt(for id: String, _ outbox: OutboxCore) -> OutboxReceipt {
        entries.withLock { entries in
            if let kept = entries[id]?.receipt { return kept }
            let made = OutboxReceipt(id, outbox)
            entries[id] = Entry(receipt: made)
            return made
        }
    }

    subscript(id: String) -> OutboxReceipt? { entries.withLock { $0[id]?.receipt } }

    /// Those that somebody waits for.
    var awaited: [OutboxReceipt] {
        let kept = entries.withLock { $0.values.compactMap(\.receipt) }
        return kept.filter(\.isAwaited)
    }

    func forget(_ id: String) {
        // Handed out of the lock: it may be the last reference, and ending it comes here again.
        _ = entries.withLock { entries -> OutboxReceipt? in
            // A new receipt may have taken the place of the one that goes.
            let kept = entries[id]?.receipt
            if kept == nil { entries[id] = nil }
            return kept
        }
    }
}
