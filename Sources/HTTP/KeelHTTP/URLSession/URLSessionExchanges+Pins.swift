#if canImport(Darwin) && canImport(Security) && canImport(CryptoKit)
import CryptoKit
import Foundation
import Security

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLSessionExchanges {
    /// Answers the authentication challenge of a server: it must pass the usual validation, then match the pins.
    ///
    /// Because the delegate has no method for session-wide challenges, URLSession calls this one, with the waiting
    /// task.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler:
            @escaping @Sendable (
                URLSession.AuthChallengeDisposition, URLCredential?
            ) -> Void
    ) {
        let space = challenge.protectionSpace
        guard let pins, pins.pins(for: space.host) != nil,
            space.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let trust = space.serverTrust, SecTrustEvaluateWithError(trust, nil)
        else { return completionHandler(.performDefaultHandling, nil) }
        guard pins.allows(Self.keyDigest(of: trust), for: space.host) else {
            exchange(of: task)?.refuseKey()
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.performDefaultHandling, nil)
    }

    private static func keyDigest(of trust: SecTrust) -> [UInt8]? {
        guard let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate],
            let server = chain.first,
            let key = CertificateKey.info(in: SecCertificateCopyData(server) as Data)
        else { return nil }
        return Array(SHA256.hash(data: Data(key)))
    }
}
#endif
