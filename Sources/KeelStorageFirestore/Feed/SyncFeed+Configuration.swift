package import KeelCore

extension SyncFeed {
    /// Where the changes come from, and how patiently they are followed.
    package struct Configuration: Sendable {
        /// `http` or `https`.
        package var scheme: String
        /// The server's host, with its port where it is not the scheme's own.
        package var authority: String
        /// What stands before `/sync` in the path; empty, or with a slash at its beginning only.
        package var pathPrefix = ""
        /// The scope that is followed.
        package var scope = "all"
        /// The database's name that documents are told with.
        package var database: String
        /// The clock of waits and pauses.
        package var clock: any Clock<Duration> = ContinuousClock()
        /// The most streams that are open at a time; who finds none free asks for pages.
        package var mostStreams = 8
        /// How long a stream stays open that nobody asks.
        package var unusedLimit = Duration.seconds(60)
        /// How long a connection may be silent; the server sends something every 15 seconds.
        package var silenceLimit = Duration.seconds(45)
        /// How long one request for a page may wait at the server, up to 60 seconds.
        package var longestPoll = Duration.seconds(30)
        /// The pauses between a stream that broke and the next.
        package var pauses = RetryPolicy(baseDelay: .seconds(1), maximumDelay: .seconds(60))

        /// Creates a configuration with the usual limits.
        package init(scheme: String, authority: String, database: String) {
            self.scheme = scheme
            self.authority = authority
            self.database = database
        }
    }
}
