public import KeelCore

extension GPSDLocationAdapter {
    /// The address of gpsd, and time limits.
    public struct Configuration: Sendable, Hashable {
        /// The host name or address.
        public var host: String
        /// The TCP port.
        public var port: UInt16
        /// The receiver to listen to, such as `/dev/ttyUSB0`; nil for all.
        public var device: String?
        /// The delays before reconnecting; the number of attempts is ignored.
        public var reconnection: RetryPolicy
        /// The time limit for connecting, including gpsd's greeting.
        public var connectTimeout: Duration
        /// The silence after which gpsd is polled.
        ///
        /// After three times as long without data, the connection is given up.
        public var stallTimeout: Duration

        /// Creates a configuration.
        public init(
            host: String = "127.0.0.1",
            port: UInt16 = 2947,
            device: String? = nil,
            reconnection: RetryPolicy = RetryPolicy(
                baseDelay: .milliseconds(500),
                maximumDelay: .seconds(30)
            ),
            connectTimeout: Duration = .seconds(5),
            stallTimeout: Duration = .seconds(15)
        ) {
            self.host = host
            self.port = port
            self.device = device
            self.reconnection = reconnection
            self.connectTimeout = connectTimeout
            self.stallTimeout = stallTimeout
        }
    }

    /// Counts of the adapter over all its connections.
    public struct Statistics: Sendable, Hashable {
        /// The number of connections that gpsd has greeted.
        public var connectionCount = 0
        /// The number of lines.
        public var lineCount = 0
        /// The number of lines that were not valid messages of gpsd.
        public var malformedLineCount = 0
        /// The number of lines skipped because they exceed ``GPSDLocationAdapter/maximumLineByteCount``.
        public var oversizedLineCount = 0
    }
}
