public import KeelAnalytics
public import KeelDependencies

/// The dependency key of the analytics service.
///
/// The live value keeps events in memory, without destinations: set one in the composition root.
///
/// ```swift
/// let analytics = try keel.makeAnalytics(destinations)
/// try await withDependencies { $0.analytics = analytics } operation: { try await run() }
/// ```
///
/// Tests and previews have a service in memory, one per test.
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
    /// The analytics service.
    public var analytics: AnalyticsService {
        get { self[AnalyticsDependency.self] }
        set { self[AnalyticsDependency.self] = newValue }
    }
}
