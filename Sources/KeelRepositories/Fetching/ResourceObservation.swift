internal import KeelCore

/// One step of a load: who was asked, whether it had something, and how long that took.
///
/// ```swift
/// let loader = ResourceLoader(
///     memory: memory,
///     observer: { step in timer("loads.\(step.source)").record(step.duration) }
/// )
/// ```
///
/// It has no key and no value, which may name people. Callers who share a read or a fetch make one
/// step together.
public struct ResourceObservation: Sendable, Hashable {
    /// Who can be asked, the nearest first.
    public enum Source: String, Sendable, Hashable, CaseIterable {
        /// The loader's ``ResourceMemory``.
        case memory
        /// This device's copy.
        case store
        /// The service.
        case service
    }

    /// Who was asked.
    public let source: Source
    /// The name of the ``EntityRepository``; nil for a resource of one's own.
    public let repository: String?
    /// Whether it had something.
    ///
    /// A list without elements is something, once the service gave it.
    public let isFound: Bool
    /// How long it took.
    public let duration: Duration
    /// The code of the failure; nil for a success.
    public let failure: DataSourceError.Code?
}

/// Tells of the steps of a loader.
struct ResourceTeller: Sendable {
    let observer: (@Sendable (ResourceObservation) -> Void)?

    /// Tells that memory had something.
    func remembered<Value>(_ resource: Resource<Value>, _ copy: Remembered<Value>) {
        tell(.memory, resource, isFound: copy.value != nil, .zero)
    }

    /// Asks somebody and tells what came of it.
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
            tell(source, resource, isFound: isFound(answer), timeline.now)
            return answer
        } catch {
            tell(source, resource, isFound: false, timeline.now, error.code)
            throw error
        }
    }

    private func tell<Value>(
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
