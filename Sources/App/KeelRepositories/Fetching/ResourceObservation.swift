internal import KeelCore

/// A step of a load: the source, whether it had a value, and the duration.
///
/// ```swift
/// let loader = ResourceLoader(
///     memory: memory,
///     observer: { step in timer("loads.\(step.source)").record(step.duration) }
/// )
/// ```
///
/// It has no key or value. A shared read or fetch is one step.
public struct ResourceObservation: Sendable, Hashable {
    /// The sources of a load, nearest first.
    public enum Source: String, Sendable, Hashable, CaseIterable {
        /// The loader's ``ResourceMemory``.
        case memory
        /// The device's copy.
        case store
        /// The service.
        case service
    }

    /// The source.
    public let source: Source
    /// The name of the ``EntityRepository``; nil for a custom resource.
    public let repository: String?
    /// Whether the source had a value.
    ///
    /// An empty list counts as a value if it came from the service.
    public let isFound: Bool
    /// The duration of the step.
    public let duration: Duration
    /// The code of the failure; nil after a success.
    public let failure: DataSourceError.Code?
}

struct ResourceReporter: Sendable {
    let observer: (@Sendable (ResourceObservation) -> Void)?

    func remembered<Value>(_ resource: Resource<Value>, _ copy: Remembered<Value>) {
        report(.memory, resource, isFound: copy.value != nil, .zero)
    }

    func asking<Value, Answer>(
        _ source: ResourceObservation.Source,
        _ resource: Resource<Value>,
        isFound: (Answer) -> Bool,
        _ question: () async throws(DataSourceError) -> Answer
    ) async throws(DataSourceError) -> Answer {
        guard observer != nil else { return try await question() }
        let timeline = Timeline(ContinuousClock())
        do throws(DataSourceError) {
            let answer = try await question()
            report(source, resource, isFound: isFound(answer), timeline.now)
            return answer
        } catch {
            report(source, resource, isFound: false, timeline.now, error.code)
            throw error
        }
    }

    private func report<Value>(
        _ source: ResourceObservation.Source,
        _ resource: Resource<Value>,
        isFound: Bool,
        _ duration: Duration,
        _ failure: DataSourceError.Code? = nil
    ) {
        observer?(
            ResourceObservation(
                source: source,
                repository: resource.home?.name,
                isFound: isFound,
                duration: duration,
                failure: failure
            )
        )
    }
}
