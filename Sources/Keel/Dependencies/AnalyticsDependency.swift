public import KeelAnalytics
public import KeelDependencies

/// The dependency key of the service that tracks.
///
/// Keel knows no destination, so the live value keeps events in memory: set one in the composition
/// root.
///
/// ```swift
/// let analytics = try keel.makeAnalytics(destinations)
/// try await withDependencies { $0.analytics = analytics } operation: { try await run() }
/// ```
///
/// A test and a preview have one in memory, each test its own.
public enum AnalyticsDependency: DependencyKey, Sendable {
    public static var liveValue: AnalyticsService { inMemory }

    public static var testValue: AnalyticsService { inMemory }

    public static var previewValue: AnalyticsService { inMemory }

    private static var inMemory: AnalyticsService {
        do throws(AnalyticsError) {
            return try .inMemory()
        } catch {
            preconditionFailure("An empty configuration was refused: \(error.message)")
        }
    }
}

extension DependencyValues {
    /// The service that tracks.
    public var analytics: AnalyticsService {
        get { self[AnalyticsDependency.self] }
        set { self[AnalyticsDependency.self] = newValue }
    }
}
