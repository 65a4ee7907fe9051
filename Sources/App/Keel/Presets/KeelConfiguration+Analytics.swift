internal import Foundation
public import KeelAnalytics

extension KeelConfiguration {
    /// Opens the analytics service, in the ``analytics`` folder or in memory.
    ///
    /// Only one program at a time can use a folder. Run the service with ``BackgroundWork`` or its
    /// own `run()`: events wait until then, and until the user consents.
    ///
    /// - Parameter configuration: The destinations and behavior.
    /// - Returns: The service.
    /// - Throws: `AnalyticsError` if the folder cannot be opened.
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
