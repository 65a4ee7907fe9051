public import KeelCore

extension GPSDLocationAdapter {
    /// Where gpsd listens, and how patient the adapter is with it.
    public struct Configuration: Sendable, Hashable {
        /// The name or address of the machine.
        public var host: String
        /// The TCP port.
        public var port: UInt16
        /// The one receiver to listen to, such as `/dev/ttyUSB0`; nil listens to all.
        public var device: String?
        /// The pauses before connecting again; its number of attempts is not looked at, because the
        /// adapter goes on for as long as it is monitored.
        public var reconnection: RetryPolicy
        /// How long connecting may take, up to gpsd's greeting.
        public var connectionLimit: Duration
        /// How long gpsd may be silent before it is asked whether it is there.
        ///
        /// A connection on which it has said nothing for three times as long is given up.
        public var silenceLimit: Duration

        /// Creates a configuration.
        ///
        /// - Parameters:
        ///   - host: The name or address of the machine.
        ///   - port: The TCP port.
        ///   - device: The one receiver to listen to; nil listens to all.
        ///   - reconnection: The pauses before connecting again.
        ///   - connectionLimit: How long connecting may take.
        ///   - silenceLimit: How long gpsd may be silent before it is asked.
        public init(
            host: String = "127.0.0.1",
            port: UInt16 = 2947,
            device: String? = nil,
            reconnection: RetryPolicy = RetryPolicy(
                baseDelay: .milliseconds(500),
                maximumDelay: .seconds(30)
            ),
            connectionLimit: Duration = .seconds(5),
            silenceLimit: Duration = .seconds(15)
        ) {
            self.host = host
            self.port = port
            self.device = device
            self.reconnection = reconnection
            self.connectionLimit = connectionLimit
            self.silenceLimit = silenceLimit
        }
    }

    /// What the adapter has read so far, over all its connections.
    public struct Statistics: Sendable, Hashable {
        /// The connections that gpsd has greeted on.
        public var connectionCount = 0
        /// The lines, of whatever kind.
        public var lineCount = 0
        /// The lines that were no message of gpsd, or held numbers that cannot be.
        public var malformedLineCount = 0
        /// The lines that were longer than ``GPSDLocationAdapter/maximumLineByteCount``, and skipped.
        public var oversizedLineCount = 0
    }
}
