public import Foundation
public import KeelHTTP
internal import KeelHTTPAuthentication
internal import KeelHTTPSecrets
internal import KeelRepositories
public import KeelSecrets

/// The client of the restaurant service, which signs requests for the signed-in user.
///
/// Identical concurrent calls share one exchange, and transient failures are retried according to the configuration;
/// the log reports both.
public struct RestaurantService: Sendable {
    /// The client.
    public let api: NetworkClient

    let session: AuthSession<BearerCredentials>
    let accounts: AccountRemoteDataSource

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - configuration: The settings of all calls.
    ///   - transport: The transport of the calls.
    ///   - secrets: The only store of the session's tokens.
    ///   - now: Returns the time.
    ///   - log: Receives the events of calls, one short line each, without secrets; nil for none.
    public init(
        _ configuration: NetworkClient.Configuration,
        transport: any HTTPTransport,
        secrets: SecretStore,
        now: @escaping @Sendable () -> Date,
        log: (@Sendable (String) -> Void)? = nil
    ) {
        var configuration = configuration
        // Restaurants are public; only requests for a user's own data carry the token.
        configuration.options.authentication = .none
        configuration.json = .snakeCase
        if let log { configuration.observers.append(CallLog(log)) }

        var policy = AuthSessionPolicy()
        policy.now = now
        let unsigned = NetworkClient(configuration, transport: transport)
        let session = AuthSession<BearerCredentials>(
            server: AccountRemoteDataSource(remote: RemoteDataSource(unsigned), now: now),
            store: SecretCredentialStore<BearerCredentials>(secrets),
            policy: policy
        )
        configuration.authorize(with: session)
        configuration.middleware.append(
            CoalescingMiddleware { call in
                // Two users must not share a response.
                call.options.authentication == .none
                    ? nil : session.current?.additionalFields["user"]
            }
        )
        self.session = session
        api = NetworkClient(configuration, transport: transport)
        accounts = AccountRemoteDataSource(remote: RemoteDataSource(api), now: now)
    }
}
