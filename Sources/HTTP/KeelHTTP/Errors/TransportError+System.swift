#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

extension TransportError.Code {
    /// Creates the code for the `errno` of a connection that failed in `phase`.
    ///
    /// For transports that own their sockets. An unreachable host or network is ``offline`` only while connecting, when
    /// nothing has been sent. An established connection can fail with the same numbers (`tcp(7)`); the server may then
    /// have acted on the request, so the code is ``connectionLost``.
    package init(systemError number: CInt, in phase: TransportError.Phase) {
        switch number {
        case ECONNREFUSED: self = .connectionRefused
        case EADDRNOTAVAIL: self = .offline
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN:
            self = phase == .connect || phase == .resolve ? .offline : .connectionLost
        case ETIMEDOUT where phase == .connect: self = .connectTimeout
        case ECONNRESET, ECONNABORTED, EPIPE, ENOTCONN, ETIMEDOUT, EBADF, ENETRESET:
            self = .connectionLost
        default: self = .unknown
        }
    }

    /// Creates the code for a failed `getaddrinfo` that returned one of the `EAI_…` numbers.
    package init(lookupFailure number: Int) {
        let passing = [EAI_AGAIN, EAI_SYSTEM, EAI_MEMORY, EAI_FAIL].map { Int($0) }
        self = passing.contains(number) ? .nameLookupFailed : .hostNotFound
    }
}
