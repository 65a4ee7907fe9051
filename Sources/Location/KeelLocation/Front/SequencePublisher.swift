#if canImport(Combine)
internal import Combine
internal import Synchronization

/// A publisher that reads a separate sequence for each subscription.
struct SequencePublisher<Base: AsyncSequence & Sendable>: Publisher
where Base.Element: Sendable {
    typealias Output = Base.Element
    typealias Failure = Base.Failure

    let makeSequence: @Sendable () -> Base

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
        let subscription = SequenceSubscription<Base>(
            hand: { subscriber.receive($0) },
            end: { subscriber.receive(completion: $0) }
        )
        subscriber.receive(subscription: subscription)
        subscription.start(makeSequence())
    }
}

/// `@unchecked` because Combine's subscribers are not `Sendable`: only the reading task calls this
/// one, and the rest is protected by the lock.
private final class SequenceSubscription<Base: AsyncSequence & Sendable>:
    Subscription, @unchecked Sendable
where Base.Element: Sendable {
    private struct State {
        var demand = Subscribers.Demand.none
        var waiter: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let hand: (Base.Element) -> Subscribers.Demand
    private let end: (Subscribers.Completion<Base.Failure>) -> Void
    private let state = Mutex(State())

    init(
        hand: @escaping (Base.Element) -> Subscribers.Demand,
        end: @escaping (Subscribers.Completion<Base.Failure>) -> Void
    ) {
        self.hand = hand
        self.end = end
    }

    func start(_ sequence: Base) {
        state.withLock { state in
            guard !state.isCancelled else { return }
            state.task = Task { [self] in await read(sequence) }
        }
    }

    private func read(_ sequence: Base) async {
        var elements = sequence.makeAsyncIterator()
        do throws(Base.Failure) {
            while let element = try await elements.next(isolation: nil) {
                await waitForDemand()
                guard !Task.isCancelled else { return }
                let more = hand(element)
                state.withLock { $0.demand += more }
            }
            // A sequence ends without a failure when its task is canceled.
            if !Task.isCancelled { end(.finished) }
        } catch {
            if !Task.isCancelled { end(.failure(error)) }
        }
    }

    func request(_ demand: Subscribers.Demand) {
        state.withLock { state in
            state.demand += demand
            return state.waiter.take()
        }?.resume()
    }

    func cancel() {
        let (task, waiter) = state.withLock { state in
            state.isCancelled = true
            return (state.task.take(), state.waiter.take())
        }
        task?.cancel()
        waiter?.resume()
    }

    private func waitForDemand() async {
        while !state.withLock({ state in
            guard state.demand > .none else { return state.isCancelled }
            state.demand -= .max(1)
            return true
        }) {
            await withCheckedContinuation { continuation in
                let isDue = state.withLock { state in
                    if state.demand > .none || state.isCancelled { return true }
                    state.waiter = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        }
    }
}
#endif
