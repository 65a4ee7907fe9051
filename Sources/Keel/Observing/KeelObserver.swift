internal import KeelCore

#if Logging
public import Logging
#endif

/// Is told of every call that the parts of a ``KeelConfiguration`` make: the one switch for logs.
///
/// ```swift
/// let keel = KeelConfiguration.production("Notes", observing: .logger(Logger(label: "keel")))
/// ```
///
/// Without the trait `Logging` a closure takes the lines: `observing: KeelObserver { print($0) }`.
/// Metrics and traces, and details for each part, are in the modules KeelHTTPObservability,
/// KeelStorageObservability and KeelServingObservability (trait `Observability`).
public struct KeelObserver: Sendable {
    private let observe: @Sendable (KeelObservation) -> Void

    /// Creates an observer.
    ///
    /// - Parameter observe: Is told after each call, in its task; it must return at once.
    public init(_ observe: @escaping @Sendable (KeelObservation) -> Void) {
        self.observe = observe
    }

    #if Logging
    /// An observer that writes a line for each call: `debug`, and `warning` for a failure.
    ///
    /// - Parameter logger: Where lines go.
    /// - Returns: The observer.
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

    /// Tells of something.
    ///
    /// - Parameter observation: The observation.
    public func callAsFunction(_ observation: KeelObservation) { observe(observation) }

    /// Does something and tells how it went, for the operations of an app's own types.
    ///
    /// ```swift
    /// try await observer.measure(.repositories, "restaurants") { try await source.all() }
    /// ```
    ///
    /// - Parameters:
    ///   - area: Which part it is.
    ///   - operation: The operation's name.
    ///   - clock: What the duration is measured on.
    ///   - body: The operation.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws.
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

    /// The code of an error of Keel's, and of another one the name of its type.
    private static func code(of error: any Error) -> String {
        if error is CancellationError { return "cancelled" }
        guard let error = error as? any KeelError else { return "\(type(of: error))" }
        return error.isCancellation ? "cancelled" : name(of: error)
    }

    private static func name(of error: some KeelError) -> String { error.code.name }
}
