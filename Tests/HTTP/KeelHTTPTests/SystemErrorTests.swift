import Foundation
import KeelHTTP
import Testing

@Suite("System error numbers of connection failures")
struct SystemErrorTests {
    @Test(
        "Each number maps to a code that tells whether anything was sent",
        arguments: [
            (ECONNREFUSED, .connect, .connectionRefused), (ENETUNREACH, .connect, .offline),
            (EHOSTUNREACH, .connect, .offline), (EADDRNOTAVAIL, .connect, .offline),
            (ENETUNREACH, .awaitHead, .connectionLost), (EHOSTUNREACH, .send, .connectionLost),
            (ENETDOWN, .readBody, .connectionLost), (EHOSTDOWN, .resolve, .offline),
            (ETIMEDOUT, .connect, .connectTimeout), (ETIMEDOUT, .readBody, .connectionLost),
            (ECONNRESET, .awaitHead, .connectionLost), (EPIPE, .send, .connectionLost),
            (ENOTCONN, .readBody, .connectionLost), (EMFILE, .connect, .unknown),
        ] as [(Int32, TransportError.Phase, TransportError.Code)]
    )
    func systemErrors(
        _ number: Int32,
        _ phase: TransportError.Phase,
        _ expected: TransportError.Code
    ) {
        #expect(TransportError.Code(systemError: number, in: phase) == expected)
    }

    @Test(
        "A temporary resolver failure is distinguished from an unknown host",
        arguments: [
            (EAI_AGAIN, .nameLookupFailed), (EAI_SYSTEM, .nameLookupFailed),
            (EAI_MEMORY, .nameLookupFailed), (EAI_FAIL, .nameLookupFailed),
            (EAI_NONAME, .hostNotFound), (0, .hostNotFound),
        ] as [(Int32, TransportError.Code)]
    )
    func lookups(_ number: Int32, _ expected: TransportError.Code) {
        #expect(TransportError.Code(lookupFailure: Int(number)) == expected)
    }
}
