extension TransportError.Code {
    /// Returns the meaning of a URLError code, by its number; nil for an unknown number.
    ///
    /// On Linux, Foundation reports most failures with a number that is vague or wrong; ``curlFailure(_:)`` interprets
    /// libcurl's text instead.
    static func urlError(_ number: Int) -> TransportError.Code? { table[number] }

    private static let table: [Int: TransportError.Code] = [
        -1: .unknown,
        // Actions of the app.
        -999: .cancelled,
        -1000: .invalidRequest,
        -1002: .invalidRequest,
        // The platform's rules.
        -995: .platformPolicy,
        -996: .platformPolicy,
        -997: .platformPolicy,
        -1022: .platformPolicy,
        // The path to the server.
        -1001: .responseTimeout,
        -1003: .hostNotFound,
        -1004: .connectionRefused,
        -1005: .connectionLost,
        -1006: .nameLookupFailed,
        -1009: .offline,
        -1018: .offline,
        -1019: .offline,
        -1020: .offline,
        -2000: .offline,
        // Redirects.
        -1007: .redirectLimit,
        -1010: .redirectInvalid,
        // The server's response.
        -1008: .protocolViolation,
        -1011: .protocolViolation,
        -1014: .truncatedBody,
        -1015: .decompressionFailed,
        -1016: .decompressionFailed,
        -1017: .protocolViolation,
        -1103: .responseTooLarge,
        -3006: .decompressionFailed,
        -3007: .decompressionFailed,
        // Credentials: those of the app are header fields, so only a proxy asks in this way.
        -1012: .proxyUnauthorized,
        -1013: .proxyUnauthorized,
        // Proxies (CFNetwork).
        306: .proxyFailed,
        307: .proxyUnauthorized,
        308: .proxyFailed,
        309: .proxyFailed,
        310: .proxyFailed,
        // The body of the request.
        -1021: .bodyProducerFailed,
        -1100: .bodyProducerFailed,
        -1101: .bodyProducerFailed,
        -1102: .bodyProducerFailed,
        -1104: .bodyProducerFailed,
        // The file for the body of the response.
        -3000: .fileNotWritten,
        -3001: .fileNotWritten,
        -3002: .fileNotWritten,
        -3003: .fileNotWritten,
        -3004: .fileNotWritten,
        -3005: .fileNotWritten,
        // TLS.
        -1200: .tlsHandshakeFailed,
        -1201: .tlsUntrusted,
        -1202: .tlsUntrusted,
        -1203: .tlsUntrusted,
        -1204: .tlsUntrusted,
        -1205: .tlsClientCertificate,
        -1206: .tlsClientCertificate,
    ]

    /// Returns the meaning of the text of libcurl 7.88 to 8.14 for a failure; nil for an unknown text.
    ///
    /// The texts contain hosts and lengths, so only their fixed parts are compared.
    static func curlFailure(_ text: String) -> TransportError.Code? {
        curlTexts.first { text.contains($0.part) }?.code
    }

    private static let curlTexts: [(part: String, code: TransportError.Code)] = [
        ("no alternative certificate subject name", .tlsHostnameMismatch),
        ("does not match target host name", .tlsHostnameMismatch),
        ("SSL certificate problem", .tlsUntrusted),
        ("SSL peer certificate", .tlsUntrusted),
        ("certificate required", .tlsClientCertificate),
        ("SSL routines", .tlsHandshakeFailed),
        ("SSL_connect", .tlsHandshakeFailed),
        ("SSL_ERROR", .tlsHandshakeFailed),
        ("in connection to", .tlsHandshakeFailed),
        ("Empty reply from server", .connectionLost),
        ("remaining to read", .truncatedBody),
        ("outstanding read data", .truncatedBody),
        ("transferred a partial file", .truncatedBody),
        ("chunked-encoding", .protocolViolation),
        ("response headers", .protocolViolation),
        ("bytes header", .protocolViolation),
        ("header", .protocolViolation),
        ("HTTP/0.9", .protocolViolation),
        // libcurl 7.88's text for a header field of more than 300 KiB.
        ("Out of memory", .protocolViolation),
        ("weird server reply", .protocolViolation),
        ("Recv failure", .connectionLost),
        ("Send failure", .connectionLost),
        ("receiving data from the peer", .connectionLost),
        ("sending data to the peer", .connectionLost),
    ]
}

extension TransportError {
    /// Creates the error for a failure of URLSession.
    ///
    /// The URLError is not kept as the cause because its text contains the whole URL. `text` is that text on Linux;
    /// `phase` says whether the response head had arrived.
    package init(urlError number: Int, text: String = "", during phase: Phase) {
        let code = Code.curlFailure(text) ?? Code.urlError(number)
        guard let code, code != .unknown else {
            self.init(.unknown, "URLSession failed with code \(number).", phase: phase)
            return
        }
        let followsExchange: Set<Code> = [
            .cancelled, .responseTimeout, .connectionLost, .protocolViolation,
        ]
        self.init(code, phase: followsExchange.contains(code) ? phase : nil)
    }
}
