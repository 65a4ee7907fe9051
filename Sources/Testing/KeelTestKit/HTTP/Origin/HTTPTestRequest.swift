/// A request as recorded by a test server.
public struct HTTPTestRequest: Sendable, Hashable {
    /// A header field as the client wrote it.
    public struct Field: Sendable, Hashable {
        /// The name in the client's spelling.
        public var name: String
        /// The value without surrounding whitespace.
        public var value: String

        /// Creates a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The properties of a request's secure channel.
    public struct Security: Sendable, Hashable {
        /// The TLS version, such as `TLSv1.3`.
        public var version: String?
        /// The protocol negotiated with ALPN.
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
    /// The target as the client wrote it, usually the path with the query.
    public var target: String
    /// `HTTP/1.1` or `HTTP/2`.
    public var version: String
    /// The header fields in the order of their arrival.
    ///
    /// HTTP/2's `:authority` appears as `host`.
    public var fields: [Field]
    /// The received body without transfer coding, up to the server's limit.
    public var body: [UInt8] = []
    /// The number of body bytes received.
    public var bodyLength = 0
    /// The trailers.
    public var trailers: [Field] = []
    /// Whether the whole request has arrived.
    public var isComplete = false
    /// The number of bytes of the answer's body handed to the connection.
    public var sentBytes = 0
    /// Whether the answer was sent as scripted; in process, only an answer without an interruption.
    public var isAnswered = false

    /// The position among all requests of the server, from 0, in the order of arrival of the heads.
    public var number = 0
    /// The number of the request's connection, from 0, in the order of connecting.
    public var connection = 0
    /// The position among the requests of the connection, from 0.
    public var numberOnConnection = 0
    /// The secure channel, if there is one.
    public var security: Security?

    /// Creates a request; the target is as the client wrote it, and the version `HTTP/1.1` or `HTTP/2`.
    public init(method: String, target: String, version: String, fields: [Field] = []) {
        self.method = method
        self.target = target
        self.version = version
        self.fields = fields
    }

    /// The request line in the form of HTTP/1.1.
    public var line: String { "\(method) \(target) \(version)" }

    /// The target without its query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }

    /// The first value of the field with this name, ignoring case.
    public subscript(name: String) -> String? { values(of: name).first }

    /// Returns all values of the fields with this name, ignoring case.
    public func values(of name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
}

/// The client's end of a connection or an exchange during an answer.
public struct HTTPTestDisconnect: Sendable, Hashable {
    /// The number of the request that was being answered.
    public var request: Int
    /// The number of the connection.
    public var connection: Int
    /// The error code of the reset stream, if the client used HTTP/2 and kept the connection.
    public var streamCode: UInt32?

    /// Creates a disconnect.
    public init(request: Int, connection: Int, streamCode: UInt32? = nil) {
        self.request = request
        self.connection = connection
        self.streamCode = streamCode
    }
}
