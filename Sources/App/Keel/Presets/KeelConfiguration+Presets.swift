public import Foundation
public import KeelStorage

extension KeelConfiguration {
    /// Returns a configuration for production: documents, files, keys, events and logs in the app's folder, secrets in
    /// the platform's store, and no reports of missing indexes.
    ///
    /// The parts use `app` as the name of their folders, and as the service of the secrets.
    public static func production(
        _ app: String,
        api: URL? = nil,
        schema: StorageSchema = StorageSchema(),
        observer: KeelObserver? = nil
    ) -> Self {
        Self(
            environment: .production,
            storage: .applicationSupport(app),
            caches: .cachesFolder(app),
            files: .applicationSupport(app),
            secrets: .platform(service: app),
            keys: .applicationSupport(app),
            analytics: .applicationSupport(app),
            logs: .applicationSupport(app),
            schema: schema,
            api: api,
            observer: observer
        )
    }

    /// Returns a configuration for development: like production, under the app's name followed by “ (development)”,
    /// with missing indexes reported to standard error and logs written to the console.
    public static func development(
        _ app: String,
        api: URL? = nil,
        schema: StorageSchema = StorageSchema(),
        observer: KeelObserver? = nil
    ) -> Self {
        var configuration = production(
            "\(app) (development)",
            api: api,
            schema: schema,
            observer: observer
        )
        configuration.environment = .development
        configuration.logs = .console
        configuration.undeclaredQueries = .report(Self.printReport)
        return configuration
    }

    /// Returns a configuration for tests: empty stores in memory, strict indexes, no network, no position.
    public static func test(
        schema: StorageSchema = StorageSchema(),
        observer: KeelObserver? = nil
    ) -> Self {
        Self(
            environment: .test,
            storage: .memory,
            location: .track(LocationTrack()),
            schema: schema,
            undeclaredQueries: .refuse,
            allowsNetwork: false,
            observer: observer
        )
    }

    /// Returns a configuration for previews: empty stores in memory, no network, a fixed position.
    public static func preview(
        schema: StorageSchema = StorageSchema(),
        observer: KeelObserver? = nil
    ) -> Self {
        Self(
            environment: .preview,
            storage: .memory,
            location: .track(.preview),
            schema: schema,
            allowsNetwork: false,
            observer: observer
        )
    }

    private static func printReport(_ query: DocumentQuery, _ plan: QueryPlan) {
        guard let index = plan.suggestion else { return }
        let text = "Keel: a query examined \(plan.examined) documents; declare \(index)\n"
        FileHandle.standardError.write(Data(text.utf8))
    }
}
