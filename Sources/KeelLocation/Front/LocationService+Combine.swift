#if canImport(Combine)
public import Combine
internal import Synchronization

extension LocationService {
    /// The states of ``states``, for code on Combine.
    ///
    /// The source is monitored while somebody is subscribed. A subscriber that asks for less than
    /// there is gets the newest state and misses what lay in between.
    public var statePublisher: AnyPublisher<LocationState, Never> {
        LocationStatePublisher(hub: hub).eraseToAnyPublisher()
    }
}

/// A publisher with one listener for each subscription.
private struct LocationStatePublisher: Publisher {
    typealias Output = LocationState
    typealias Failure = Never

    let hub: LocationHub

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == LocationState, Downstream.Failure == Never {
        let subscription = LocationStateSubscription { subscriber.receive($0) }
        subscriber.receive(subscription: subscription)
        subscription.start(hub)
    }
}

/// Hands states on as they are asked for.
///
/// `@unchecked`, because Combine's subscribers are not `Sendable`: this one is called by the reading
/// task alone, and the rest is in the lock.
private final class LocationStateSubscription: Subscription, @unchecked Sendable {
    private struct State {
        var demand = Subscribers.Demand.none
        var waiter: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let hand: (LocationState) -> Subscribers.Demand
    private let state = Mutex(State())

    init(_ hand: @escaping (LocationState) -> Subscribers.Demand) { self.hand = hand }

    func start(_ hub: LocationHub) {
        state.withLock { state in
            guard !state.isCancelled else { return }
            state.task = Task { [self] in
                for await value in LocationStates(hub: hub) {
                    await waitForDemand()
                    guard !Task.isCancelled else { return }
                    let more = hand(value)
                    self.state.withLock { $0.demand += more }
                }
            }
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
