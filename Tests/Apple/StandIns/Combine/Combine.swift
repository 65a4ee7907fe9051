// The part of Apple's Combine that the publishers of a location service need, by its documentation.

public protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure
}

public protocol Subscriber<Input, Failure> {
    associatedtype Input
    associatedtype Failure: Error

    func receive(subscription: any Subscription)
    func receive(_ input: Input) -> Subscribers.Demand
    func receive(completion: Subscribers.Completion<Failure>)
}

public protocol Cancellable {
    func cancel()
}

public protocol Subscription: Cancellable, AnyObject {
    func request(_ demand: Subscribers.Demand)
}

public enum Subscribers: Sendable {
    public struct Demand: Equatable, Comparable, Hashable, Sendable {
        /// Nil for unlimited demand.
        let count: Int?

        public static let none = Demand(count: 0)
        public static let unlimited = Demand(count: nil)
        public static func max(_ count: Int) -> Demand { Demand(count: count) }

        public static func < (left: Demand, right: Demand) -> Bool {
            guard let first = left.count else { return false }
            guard let second = right.count else { return true }
            return first < second
        }

        // swift-format-ignore: AlwaysUseLowerCamelCase
        public static func += (left: inout Demand, right: Demand) {
            guard let first = left.count, let second = right.count else {
                left = .unlimited
                return
            }
            left = Demand(count: first + second)
        }

        public static func -= (left: inout Demand, right: Demand) {
            guard let first = left.count, let second = right.count else { return }
            left = Demand(count: Swift.max(0, first - second))
        }
    }

    public enum Completion<Failure: Error>: Sendable {
        case finished
        case failure(Failure)
    }
}

public struct AnyPublisher<Output, Failure: Error>: Publisher {
    private let base: any Publisher<Output, Failure>

    public init(_ base: some Publisher<Output, Failure>) { self.base = base }

    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
        base.receive(subscriber: subscriber)
    }
}

@available(*, unavailable)
extension AnyPublisher: Sendable {}

extension Publisher {
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }
}

// MARK: What code on Combine does with a publisher

public enum Publishers {
    public struct Map<Upstream: Publisher, Output>: Publisher {
        public typealias Failure = Upstream.Failure

        public let upstream: Upstream
        public let transform: (Upstream.Output) -> Output

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            upstream.receive(subscriber: Mapped(subscriber, transform))
        }
    }
}

private struct Mapped<Input, Downstream: Subscriber>: Subscriber {
    let downstream: Downstream
    let transform: (Input) -> Downstream.Input

    init(_ downstream: Downstream, _ transform: @escaping (Input) -> Downstream.Input) {
        (self.downstream, self.transform) = (downstream, transform)
    }

    func receive(subscription: any Subscription) { downstream.receive(subscription: subscription) }

    func receive(_ input: Input) -> Subscribers.Demand { downstream.receive(transform(input)) }

    func receive(completion: Subscribers.Completion<Downstream.Failure>) {
        downstream.receive(completion: completion)
    }
}

extension Publisher {
    public func map<Result>(
        _ transform: @escaping (Output) -> Result
    ) -> Publishers.Map<Self, Result> {
        Publishers.Map(upstream: self, transform: transform)
    }
}
