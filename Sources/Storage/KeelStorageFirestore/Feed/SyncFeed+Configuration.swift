package import KeelCore

extension SyncFeed {
    /// The server of a feed, and its limits.
    package struct Configuration: Sendable {
        /// `http` or `https`.
        package var scheme: String
        /// The server's host, with its port if it is not the scheme's default.
        package var authority: String
        /// The path before `/sync`; empty, or with a leading slash and no trailing slash.
        package var pathPrefix = ""
        /// The scope to follow.
        package var scope = "all"
        /// The database in the names of documents.
        package var database: String
        /// The clock of waits and delays.
        package var clock: any Clock<Duration> = ContinuousClock()
        /// The maximum number of open streams; further readers poll for pages.
        package var mostStreams = 8
        /// The time after which an unused stream is closed.
        package var idleTimeout = Duration.seconds(60)
        /// The stall timeout of a connection; the server sends something every 15 seconds.
        package var stallTimeout = Duration.seconds(45)
        /// The maximum time that a page request waits at the server, up to 60 seconds.
        package var maximumPollDuration = Duration.seconds(30)
        /// The delays before a stream is opened after another broke off.
        package var pauses = RetryPolicy(baseDelay: .seconds(1), maximumDelay: .seconds(60))

        /// Creates a configuration with default limits.
        package init(scheme: String, authority: String, database: String) {
            self.scheme = scheme
            self.authority = authority
            self.database = database
        }
    }
}
