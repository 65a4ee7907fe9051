internal import KeelCore

#if Logging
public import Logging
#endif

/// A receiver of the calls of the parts that a ``KeelConfiguration`` makes, for logging.
///
/// ```swift
/// let keel = KeelConfiguration.production("Notes", observer: .logger(Logger(label: "keel")))
/// ```
///
/// Without the trait `Logging`, use a closure: `observer: KeelObserver { print($0) }`. For metrics and traces, use
/// KeelHTTPObservability, KeelStorageObservability and KeelServingObservability (trait `Observability`).
public struct KeelObserver: Sendable {
    private let observe: @Sendable (KeelObservation) -> Void

    /// Creates an observer.
    ///
    /// - Parameter observe: Called after each call, on any thread; it must return immediately.
    public init(_ observe: @escaping @Sendable (KeelObservation) -> Void) {
        self.observe = observe
    }

    #if Logging
    /// Returns an observer that logs each call at level `debug`, and failures at `warning`.
    public static func logger(_ logger: Logger) -> Self {
        Self { observation in
            let level: Logger.Level = observation.isWarning ? .warning : .debug
            guard logger.logLevel <= level else { return }
            let area = observation.area.name
            var metadata: Logger.Metadata = ["keel.area": "\(area)"]
            for (name, value) in observation.details { metadata["keel.\(name)"] = "\(value)" }
            if let duration = observation.duration {
                metadata["keel.duration"] = "\(duration)"
            }
            if let failure = observation.failure { metadata["error.code"] = "\(failure)" }
            let outcome = observation.failure == nil ? "" : " failed"
            let message = "\(area) \(observation.operation)\(outcome)"
            logger.log(level: level, "\(message)", metadata: metadata)
        }
    }
    #endif

    /// Reports an observation.
    public func callAsFunction(_ observation: KeelObservation) { observe(observation) }

    /// Runs an operation of the app and reports its outcome.
    ///
    /// ```swift
    /// try await observer.measure(.repositories, "restaurants") { try await source.all() }
    /// ```
    public func measure<Value, Failure: Error>(
        _ area: KeelObservation.Area,
        _ operation: String,
        clock: any Clock<Duration> = ContinuousClock(),
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let timeline = Timeline(clock)
        let start = timeline.now
        do throws(Failure) {
            let value = try await body()
            self(KeelObservation(area, operation, duration: timeline.now - start))
            return value
        } catch {
            let code = Self.code(of: error)
            let duration = timeline.now - start
            self(KeelObservation(area, operation, duration: duration, failure: code))
            throw error
        }
    }

    private static func code(of error: any Error) -> String {
        if error is CancellationError { return "cancelled" }
        guard let error = error as? any KeelError else { return "\(type(of: error))" }
        return error.isCancellation ? "cancelled" : name(of: error)
    }

    private static func name(of error: some KeelError) -> String { error.code.name }
}
