internal import Foundation
public import KeelDependencies
public import KeelHTTP

/// The dependency key of the app's web service.
///
/// Keel has no default: set a client in the composition root. Until then every call fails.
public enum NetworkDependency: DependencyKey, Sendable {
    public static var liveValue: NetworkClient {
        unavailable("the app sets no network: use withDependencies { $0.network = … }")
    }

    public static var testValue: NetworkClient {
        unset(
            standIn: unavailable(
                "the test sets no network: use withDependencies { $0.network = … } or the trait"
            )
        )
    }

    public static var previewValue: NetworkClient {
        unavailable("a preview has no network: use withDependencies { $0.network = … }")
    }

    private static func unavailable(_ reason: String) -> NetworkClient {
        let error = TransportError(.invalidRequest, reason, processed: .no)
        return NetworkClient(
            baseURL: URL(filePath: "/"),
            transport: UnavailableHTTPTransport(error)
        )
    }
}

extension DependencyValues {
    /// The app's web service.
    public var network: NetworkClient {
        get { self[NetworkDependency.self] }
        set { self[NetworkDependency.self] = newValue }
    }
}
