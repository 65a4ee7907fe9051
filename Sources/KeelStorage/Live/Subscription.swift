package import KeelDocuments
package import KeelStorageAdapting
internal import Synchronization

/// The mailbox of one listener.
///
/// The hub puts changes in; the listener takes them out when it is asked for its next snapshot. Of
/// several changes to one document only the last is kept, so that a slow reader costs memory for
/// the documents that changed and not for the changes, and then sees the latest state.
package final class Subscription: Sendable {
    /// What a listener is interested in.
    package enum Interest: Sendable {
        case document(DocumentPath)
        case query(DocumentQuery)
    }

    /// What a listener finds in its mailbox.
    package enum Delivery: Sendable {
        /// These documents changed; the states belong together at `position`.
        case changes([DocumentPath: ChangePage.Change], position: ChangeCursor)
        /// Changes were missed; what is known must be read again.
        case reset
        /// Listening is over.
        case failure(StorageError)
        /// The task was cancelled.
        case cancelled
    }

    private struct State {
        /// Changes of pages that have not reached a consistent position yet.
        var staged: [DocumentPath: ChangePage.Change] = [:]
        var ready: [DocumentPath: ChangePage.Change] = [:]
        /// The last consistent position, once there is something to tell about it.
        var position: ChangeCursor?
        /// Before this, nothing is handed out.
        var base: ChangeCursor?
        var needsReset = false
        var failure: StorageError?
        var waiter: CheckedContinuation<Void, Never>?

        var hasNews: Bool {
            if failure != nil || needsReset { return true }
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
            guard let reached = position else { return nil }
            position = nil
            defer { ready = [:] }
            return .changes(ready, position: reached)
        }
    }

    package let interest: Interest
    /// The changes that the interest needs.
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

    /// Makes what is staged available: the changes so far are consistent at `position`.
    package func publish(at position: ChangeCursor) {
        wake { state in
            state.ready.merge(state.staged) { _, new in new }
            state.staged = [:]
            state.position = position
        }
    }

    /// Holds changes back until they have come to where the listener has read.
    ///
    /// Those before may be older than what it has read, and are handed out with those behind.
    package func hold(until base: ChangeCursor?) { state.withLock { $0.base = base } }

    /// Sends the listener to read again; what comes from now on is kept.
    package func reset() {
        wake { state in
            state.needsReset = true
            state.staged = [:]
            state.ready = [:]
            state.position = nil
        }
    }

    package func fail(_ error: StorageError) { wake { $0.failure = error } }

    private func wake(_ change: (inout sending State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// What is in the mailbox; nil if it is empty.
    package func take() -> Delivery? { state.withLock { $0.takeDelivery() } }

    /// Waits until there is something in the mailbox.
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
