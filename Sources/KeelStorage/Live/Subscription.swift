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
        case collection(CollectionPath)
        case group(String)
    }

    /// What a listener finds in its mailbox.
    package enum Delivery: Sendable {
        /// These documents changed; the states belong together at `position`.
        case changes([DocumentPath: ChangePage.Change], position: ChangeCursor, isFromCache: Bool)
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
        var isFromCache = false
        var needsReset = false
        var failure: StorageError?
        var waiter: CheckedContinuation<Void, Never>?

        mutating func takeDelivery() -> Delivery? {
            if let failure { return .failure(failure) }
            if needsReset {
                needsReset = false
                staged = [:]
                ready = [:]
                position = nil
                return .reset
            }
            guard let reached = position else { return nil }
            position = nil
            defer { ready = [:] }
            return .changes(ready, position: reached, isFromCache: isFromCache)
        }
    }

    package let interest: Interest
    private let state = Mutex(State())

    package init(_ interest: Interest) { self.interest = interest }

    package func stage(_ change: ChangePage.Change) {
        state.withLock { $0.staged[change.path] = change }
    }

    /// Makes what is staged available: the changes so far are consistent at `position`.
    package func publish(at position: ChangeCursor, isFromCache: Bool) {
        wake { state in
            state.ready.merge(state.staged) { _, new in new }
            state.staged = [:]
            state.position = position
            state.isFromCache = isFromCache
        }
    }

    package func reset() { wake { $0.needsReset = true } }

    package func fail(_ error: StorageError) { wake { $0.failure = error } }

    private func wake(_ change: (inout sending State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits until there is something in the mailbox.
    package func next() async -> Delivery {
        while !Task.isCancelled {
            if let delivery = state.withLock({ $0.takeDelivery() }) { return delivery }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isDue = state.withLock { state in
                        let hasNews = state.position != nil || state.needsReset
                        guard !hasNews, state.failure == nil, !Task.isCancelled else { return true }
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
