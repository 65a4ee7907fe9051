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
    /// The code for an `errno` of a connection that failed.
    ///
    /// For transports that own their sockets. An unreachable host or network is ``offline`` only while
    /// connecting, when nothing has been sent. An established connection can end with the same numbers
    /// (`tcp(7)`); the server may then have acted on the request, so the code is ``connectionLost``.
    ///
    /// - Parameters:
    ///   - number: The number, as `errno` has it.
    ///   - phase: How far the exchange had come.
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

    /// The code for a number of `getaddrinfo` that failed to find a name.
    ///
    /// - Parameter number: The number, one of `EAI_…`.
    package init(lookupFailure number: Int) {
        let passing = [EAI_AGAIN, EAI_SYSTEM, EAI_MEMORY, EAI_FAIL].map { Int($0) }
        self = passing.contains(number) ? .nameLookupFailed : .hostNotFound
    }
}
