internal import Foundation
public import KeelAnalytics

extension KeelConfiguration {
    /// Opens the service that tracks, in the folder that ``analytics`` names or in memory.
    ///
    /// A folder belongs to one program at a time. Run the service with ``BackgroundWork`` or with its
    /// own `run()`: events wait until then, and until the user has consented.
    ///
    /// - Parameter configuration: Where events go, and what becomes of them before.
    /// - Returns: The service.
    /// - Throws: `AnalyticsError` when the folder cannot be opened.
    public func makeAnalytics(
        _ configuration: AnalyticsConfiguration = AnalyticsConfiguration()
    ) throws(AnalyticsError) -> AnalyticsService {
        var configuration = configuration
        if let observer {
            let inner = configuration.observer
            configuration.observer = { observation in
                inner?(observation)
                observer(KeelObservation(observation))
            }
        }
        guard let folder = analytics.folder("Analytics") else {
            return try .inMemory(configuration)
        }
        return try AnalyticsService(at: folder, configuration: configuration)
    }
}
