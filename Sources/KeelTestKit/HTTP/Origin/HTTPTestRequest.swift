/// A request as a test's server saw it.
public struct HTTPTestRequest: Sendable, Hashable {
    /// A header field as it was written.
    public struct Field: Sendable, Hashable {
        /// The name in the spelling of the client.
        public var name: String
        /// The value, without the blanks around it.
        public var value: String

        /// Creates a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What the server knows about the secure channel of a request.
    public struct Security: Sendable, Hashable {
        /// The version, such as `TLSv1.3`.
        public var version: String?
        /// The protocol that was agreed on with ALPN.
        public var negotiatedProtocol: String?
        /// The client's certificate in DER.
        public var clientCertificate: [UInt8]?

        /// Creates a description of a secure channel.
        public init(
            version: String? = nil,
            negotiatedProtocol: String? = nil,
            clientCertificate: [UInt8]? = nil
        ) {
            self.version = version
            self.negotiatedProtocol = negotiatedProtocol
            self.clientCertificate = clientCertificate
        }
    }

    /// The method.
    public var method: String
    /// The target as it was written: usually the path with the query.
    public var target: String
    /// `HTTP/1.1` or `HTTP/2`.
    public var version: String
    /// The header fields in the order of their arrival.
    ///
    /// HTTP/2's `:authority` is among them as `host`.
    public var fields: [Field]
    /// The body, without any transfer coding, as far as it has arrived and was to be kept.
    public var body: [UInt8] = []
    /// How many bytes of the body have arrived.
    public var bodyLength = 0
    /// The fields after the body.
    public var trailers: [Field] = []
    /// Whether the request has arrived to its end.
    public var isComplete = false
    /// How many bytes of the answer's body were handed to the connection.
    public var sentBytes = 0
    /// Whether the answer was given as it was meant to be, faults included.
    public var isAnswered = false

    /// The place among all requests of the server, from 0, in the order in which heads arrived.
    public var number = 0
    /// The number of its connection, from 0, in the order of connecting.
    public var connection = 0
    /// The place among the requests of its connection, from 0.
    public var numberOnConnection = 0
    /// The secure channel, where there is one.
    public var security: Security?

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - target: The target as it was written.
    ///   - version: `HTTP/1.1` or `HTTP/2`.
    ///   - fields: The header fields.
    public init(method: String, target: String, version: String, fields: [Field] = []) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
    }

    /// The request line, as HTTP/1.1 writes it.
    public var line: String { "\(method) \(target) \(version)" }

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The first value of the field with this name, whatever its spelling.
    public subscript(name: String) -> String? { values(of: name).first }

    /// All values of the fields with this name, whatever its spelling.
    public func values(of name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
}

/// The end of a connection or an exchange that the client brought about while it was answered.
public struct HTTPTestDisconnect: Sendable, Hashable {
    /// The request that was being answered.
    public var request: Int
    /// The number of the connection.
    public var connection: Int
    /// The code of the stream's reset, where the client used HTTP/2 and kept the connection.
    public var streamCode: UInt32?

    /// Creates a hang-up.
    public init(request: Int, connection: Int, streamCode: UInt32? = nil) {
        self.request = request
        self.connection = connection
        self.streamCode = streamCode
    }
}
