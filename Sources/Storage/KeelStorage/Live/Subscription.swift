package import KeelDocuments
package import KeelStorageAdapting
internal import Synchronization

/// The mailbox of one listener.
///
/// The hub adds changes; the listener takes them when it is asked for its next snapshot. Only the last change of a
/// document is kept.
package final class Subscription: Sendable {
    package enum Interest: Sendable {
        case document(DocumentPath)
        case query(DocumentQuery)
    }

    package enum Delivery: Sendable {
        /// These documents changed; their states are consistent at `position`.
        case changes([DocumentPath: ChangePage.Change], position: ChangeCursor)
        /// Nothing changed but ``Subscription/isLost``.
        case connection
        /// Changes were missed; the listener must read again.
        case reset
        case failure(StorageError)
        case cancelled
    }

    private struct State {
        var staged: [DocumentPath: ChangePage.Change] = [:]
        var ready: [DocumentPath: ChangePage.Change] = [:]
        var position: ChangeCursor?
        /// The position before which nothing is delivered.
        var base: ChangeCursor?
        var needsReset = false
        var isLost = false
        var deliveredLost = false
        var failure: StorageError?
        var waiter: CheckedContinuation<Void, Never>?

        var hasNews: Bool {
            failure != nil || needsReset || isLost != deliveredLost || hasChanges
        }

        private var hasChanges: Bool {
            guard let position else { return false }
            return base.map { $0 <= position } ?? true
        }

        mutating func takeDelivery() -> Delivery? {
            guard hasNews else { return nil }
            if let failure { return .failure(failure) }
            if needsReset {
                needsReset = false
                return .reset
            }
            deliveredLost = isLost
            guard hasChanges, let reached = position else { return .connection }
            position = nil
            defer { ready = [:] }
            return .changes(ready, position: reached)
        }
    }

    package let interest: Interest
    package let scope: ChangeScope
    private let state = Mutex(State())

    package init(_ interest: Interest) {
        self.interest = interest
        switch interest {
        case .document(let path): scope = .documents([path])
        case .query(let query): scope = .query(query)
        }
    }

    package func stage(_ change: ChangePage.Change) {
        state.withLock { $0.staged[change.path] = change }
    }

    /// Makes the staged changes available, which are consistent at `position`.
    package func publish(at position: ChangeCursor) {
        wake { state in
            state.isLost = false
            state.ready.merge(state.staged) { _, new in new }
            state.staged = [:]
            state.position = position
        }
    }

    /// Holds changes back until they have reached the position of the listener's read, which has found no outage.
    package func hold(until base: ChangeCursor?) {
        state.withLock { state in
            state.base = base
            // An outage that goes on is delivered again.
            state.deliveredLost = false
        }
    }

    /// Makes the listener read again; later changes are kept.
    package func reset() {
        wake { state in
            state.needsReset = true
            state.staged = [:]
            state.ready = [:]
            state.position = nil
        }
    }

    /// Whether the hub has failed to reach the store since the last consistent position.
    package var isLost: Bool { state.withLock { $0.isLost } }

    package func setLost(_ isLost: Bool) { wake { $0.isLost = isLost } }

    package func fail(_ error: StorageError) { wake { $0.failure = error } }

    private func wake(_ change: (inout sending State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Takes the content of the mailbox; nil if it is empty.
    package func take() -> Delivery? { state.withLock { $0.takeDelivery() } }

    package func next() async -> Delivery {
        while !Task.isCancelled {
            if let delivery = take() { return delivery }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isDue = state.withLock { state in
                        guard !state.hasNews, !Task.isCancelled else { return true }
                        state.waiter = continuation
                        return false
                    }
                    if isDue { continuation.resume() }
                }
            } onCancel: {
                wake { _ in }
            }
        }
        return .cancelled
    }
}
