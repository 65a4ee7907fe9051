public import Foundation
public import KeelHTTP
internal import KeelHTTPSecrets
internal import KeelRepositories
public import KeelSecrets

/// The restaurant service as this app calls it: in the name of whoever is signed in.
///
/// Identical calls that are under way at once are one exchange, and failures that may pass are
/// repeated as the configuration says; the log tells of both.
public struct RestaurantService: Sendable {
    /// Calls the service.
    public let api: NetworkClient

    let session: AuthSession<BearerCredentials>
    let accounts: AccountRemoteDataSource

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - configuration: What all calls have in common.
    ///   - transport: What carries the calls.
    ///   - secrets: Where the tokens of the session are kept, and nowhere else.
    ///   - now: The time.
    ///   - log: Told what happens to calls, one short line each, without secrets; nil tells nobody.
    public init(
        _ configuration: NetworkClient.Configuration,
        transport: any HTTPTransport,
        secrets: SecretStore,
        now: @escaping @Sendable () -> Date,
        log: (@Sendable (String) -> Void)? = nil
    ) {
        var configuration = configuration
        // Everybody may see restaurants; only what belongs to a user takes the user's token.
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
                // Two users must not share an answer.
                call.options.authentication == .none
                    ? nil : session.current?.additionalFields["user"]
            }
        )
        self.session = session
        api = NetworkClient(configuration, transport: transport)
        accounts = AccountRemoteDataSource(remote: RemoteDataSource(api), now: now)
    }
}
