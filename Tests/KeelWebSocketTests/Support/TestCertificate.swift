#if WebSocket
import NIOSSL

/// A certificate for `localhost`, good for a hundred years and for nothing but tests.
enum TestCertificate {
    static func server() throws -> NIOSSLContext {
        let certificates = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
            )
        )
    }

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

    /// Made for this file; it opens nothing.
    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgTd7Uikgm3rGDyXS6
        MDtxRjb4xDK2UVDkQpX5MmWGw96hRANCAARqrn1h6rW9ShiwaDy/+AXTOSSbb1KK
        wk4F2dxpoOUQySCtYvO+3Ru9uPBMvtFe1oHkWtZTRJODx997nJEbpWWJ
        -----END PRIVATE KEY-----
        """
}
#endif
