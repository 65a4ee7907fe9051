internal import KeelCore

/// A sequence of fixes as they arrive; see ``LocationService/fixes(minimumDistance:)``.
public struct LocationFixes: AsyncSequence, Sendable {
    public typealias Element = LocationFix
    public typealias Failure = LocationError

    let hub: LocationHub
    let minimumDistance: Double

    /// Starts listening.
    public func makeAsyncIterator() -> Iterator {
        Iterator(hub: hub, minimumDistance: minimumDistance)
    }

    /// An iterator that listens while it exists.
    public struct Iterator: AsyncIteratorProtocol {
        private var base: FixReader
        private var filter: DistanceFilter

        fileprivate init(hub: LocationHub, minimumDistance: Double) {
            base = FixReader(hub, keepingNewest: 64)
            filter = DistanceFilter(minimumDistance)
        }

        /// Waits for the next fix; returns nil if the task is canceled, and after a failure.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(LocationError) -> LocationFix? {
            while let fix = try await base.next(isolation: actor) {
                if filter.passes(fix) { return fix }
            }
            return nil
        }
    }
}

@available(*, unavailable)
extension LocationFixes.Iterator: Sendable {}

/// Reads fixes until a non-transient failure.
struct FixReader {
    // Keeps the monitoring alive while the reader exists.
    private let hub: LocationHub
    /// Nil after the end, so that a failed reader does not keep the monitoring alive.
    private var base: AsyncStream<Result<LocationFix, LocationError>>.Iterator?

    init(_ hub: LocationHub, keepingNewest limit: Int) {
        self.hub = hub
        let stream = hub.listen(keepingNewest: limit) { update in
            switch update {
            case .fix(let fix): Result<LocationFix, LocationError>.success(fix)
            case .failure(let error) where !error.isTransient: .failure(error)
            case .failure, .state: nil
            }
        }
        base = stream.makeAsyncIterator()
    }

    mutating func next(
        isolation actor: isolated (any Actor)?
    ) async throws(LocationError) -> LocationFix? {
        switch await base?.next(isolation: actor) {
        case .success(let fix)?:
            return fix
        case .failure(let error)?:
            base = nil
            throw error
        case nil:
            base = nil
            return nil
        }
    }
}

struct DistanceFilter: Sendable {
    private let minimum: Double
    private var last: LocationCoordinate?

    init(_ minimum: Double) { self.minimum = minimum }

    mutating func passes(_ fix: LocationFix) -> Bool {
        if let last, last.distance(to: fix.coordinate) < minimum { return false }
        last = fix.coordinate
        return true
    }
}
