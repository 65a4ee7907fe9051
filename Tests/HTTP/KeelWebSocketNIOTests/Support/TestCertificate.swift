#if WebSocket
import NIOSSL

/// A certificate for `localhost`, valid for a hundred years and only for tests.
enum TestCertificate {
    /// Returns a server's TLS context, optionally one that requires this certificate of clients.
    static func server(asksClients: Bool = false) throws -> NIOSSLContext {
        let certificates = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
        var settings = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
        )
        if asksClients {
            settings.trustRoots = .certificates(certificates)
            settings.certificateVerification = .noHostnameVerification
        }
        return try NIOSSLContext(configuration: settings)
    }

    /// The output of `openssl pkey -pubin -outform der | openssl dgst -sha256` for the public key.
    static let keyDigest: [UInt8] = [
        0xfc, 0x8c, 0xd5, 0x0a, 0x8b, 0x65, 0x7e, 0x56, 0x31, 0x60, 0xcb, 0x4d, 0xb2, 0x05, 0xfc,
        0xd1,
        0x0a, 0x81, 0x09, 0x4d, 0xe1, 0x3b, 0xa6, 0x1f, 0xaa, 0x8d, 0xd3, 0x82, 0xcc, 0xb6, 0x77,
        0xce,
    ]

    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBljCCATugAwIBAgIUJKCyFvvd38tBYHAMGSNoyhJruRowCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTIzMTkyN1oYDzIxMjYxMDI4
        MjMxOTI3WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAARqrn1h6rW9ShiwaDy/+AXTOSSbb1KKwk4F2dxpoOUQySCtYvO+3Ru9
        uPBMvtFe1oHkWtZTRJODx997nJEbpWWJo2kwZzAdBgNVHQ4EFgQUQaKjhjfSWzt7
        KwfyzIw5YiMkVYkwHwYDVR0jBBgwFoAUQaKjhjfSWzt7KwfyzIw5YiMkVYkwDwYD
        VR0TAQH/BAUwAwEB/zAUBgNVHREEDTALgglsb2NhbGhvc3QwCgYIKoZIzj0EAwID
        SQAwRgIhAPMtGLqazfKRnEXyMFREKPwFts2Y6xttqaMyB9lvK4YsAiEA+PR/qvVC
        n7twTpYfX+GzkpNrzgI/px4v3oskzmKZkS4=
        -----END CERTIFICATE-----
        """

    /// Made for this file; it protects nothing.
    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTd7Uikgm3rGDyXS6
        MDtxRjb4xDK2UVDkQpX5MmWGw96hRANCAARqrn1h6rW9ShiwaDy/+AXTOSSbb1KK
        wk4F2dxpoOUQySCtYvO+3Ru9uPBMvtFe1oHkWtZTRJODx997nJEbpWWJ
        -----END PRIVATE KEY-----
        """
}
#endif
