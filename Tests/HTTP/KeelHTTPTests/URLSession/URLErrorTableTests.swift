import Testing

@testable import KeelHTTP

@Suite("Mapping of URLError codes")
struct URLErrorTableTests {
    /// Foundation's constants by name; NSURLError.h has their numbers.
    static let foundation: [(name: String, number: Int, code: TransportError.Code)] = [
        ("unknown", -1, .unknown),
        ("backgroundSessionRequiresSharedContainer", -995, .platformPolicy),
        ("backgroundSessionInUseByAnotherProcess", -996, .platformPolicy),
        ("backgroundSessionWasDisconnected", -997, .platformPolicy),
        ("cancelled", -999, .cancelled),
        ("badURL", -1000, .invalidRequest),
        ("timedOut", -1001, .responseTimeout),
        ("unsupportedURL", -1002, .invalidRequest),
        ("cannotFindHost", -1003, .hostNotFound),
        ("cannotConnectToHost", -1004, .connectionRefused),
        ("networkConnectionLost", -1005, .connectionLost),
        ("dnsLookupFailed", -1006, .nameLookupFailed),
        ("httpTooManyRedirects", -1007, .redirectLimit),
        ("resourceUnavailable", -1008, .protocolViolation),
        ("notConnectedToInternet", -1009, .offline),
        ("redirectToNonExistentLocation", -1010, .redirectInvalid),
        ("badServerResponse", -1011, .protocolViolation),
        ("userCancelledAuthentication", -1012, .proxyUnauthorized),
        ("userAuthenticationRequired", -1013, .proxyUnauthorized),
        ("zeroByteResource", -1014, .truncatedBody),
        ("cannotDecodeRawData", -1015, .decompressionFailed),
        ("cannotDecodeContentData", -1016, .decompressionFailed),
        ("cannotParseResponse", -1017, .protocolViolation),
        ("internationalRoamingOff", -1018, .offline),
        ("callIsActive", -1019, .offline),
        ("dataNotAllowed", -1020, .offline),
        ("requestBodyStreamExhausted", -1021, .bodyProducerFailed),
        ("appTransportSecurityRequiresSecureConnection", -1022, .platformPolicy),
        ("fileDoesNotExist", -1100, .bodyProducerFailed),
        ("fileIsDirectory", -1101, .bodyProducerFailed),
        ("noPermissionsToReadFile", -1102, .bodyProducerFailed),
        ("dataLengthExceedsMaximum", -1103, .responseTooLarge),
        ("fileOutsideSafeArea", -1104, .bodyProducerFailed),
        ("secureConnectionFailed", -1200, .tlsHandshakeFailed),
        ("serverCertificateHasBadDate", -1201, .tlsUntrusted),
        ("serverCertificateUntrusted", -1202, .tlsUntrusted),
        ("serverCertificateHasUnknownRoot", -1203, .tlsUntrusted),
        ("serverCertificateNotYetValid", -1204, .tlsUntrusted),
        ("clientCertificateRejected", -1205, .tlsClientCertificate),
        ("clientCertificateRequired", -1206, .tlsClientCertificate),
        ("cannotLoadFromNetwork", -2000, .offline),
        ("cannotCreateFile", -3000, .fileNotWritten),
        ("cannotOpenFile", -3001, .fileNotWritten),
        ("cannotCloseFile", -3002, .fileNotWritten),
        ("cannotWriteToFile", -3003, .fileNotWritten),
        ("cannotRemoveFile", -3004, .fileNotWritten),
        ("cannotMoveFile", -3005, .fileNotWritten),
        ("downloadDecodingFailedMidStream", -3006, .decompressionFailed),
        ("downloadDecodingFailedToComplete", -3007, .decompressionFailed),
    ]

    @Test("Each code of Foundation is mapped", arguments: foundation)
    func maps(name: String, number: Int, code: TransportError.Code) {
        let error = TransportError(urlError: number, during: .readBody)
        #expect(error.code == code, "\(name)")
    }

    @Test(
        "Failures before the head and in the body differ by their phase",
        arguments: [
            TransportError.Phase.awaitHead, .readBody,
        ]
    )
    func phases(_ phase: TransportError.Phase) {
        #expect(TransportError(urlError: -1001, during: phase).phase == phase)
        #expect(TransportError(urlError: -1005, during: phase).phase == phase)
        // Failures before a request was sent keep their phase.
        #expect(TransportError(urlError: -1003, during: phase).phase == .resolve)
        #expect(TransportError(urlError: -1003, during: phase).processed == .no)
    }

    @Test("An unrecognized code is unknown, and the message names it")
    func unknown() {
        let error = TransportError(urlError: -4711, during: .awaitHead)
        #expect(error.code == .unknown)
        #expect(error.message.contains("-4711"))
    }

    @Test(
        "libcurl's text decides where the code is ambiguous",
        arguments: [
            ("transfer closed with 5 bytes remaining to read", TransportError.Code.truncatedBody),
            ("SSL certificate problem: self-signed certificate", .tlsUntrusted),
            (
                "SSL: no alternative certificate subject name matches target host name 'x'",
                .tlsHostnameMismatch
            ),
            ("Recv failure: Connection reset by peer", .connectionLost),
            ("Illegal or missing hexadecimal sequence in chunked-encoding", .protocolViolation),
            ("Empty reply from server", .connectionLost),
            ("a text of a later libcurl", .unknown),
        ]
    )
    func texts(text: String, code: TransportError.Code) {
        #expect(TransportError(urlError: -1, text: text, during: .readBody).code == code)
    }
}
