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
    /// What a number means that the operating system gave for a failure of a connection.
    ///
    /// For transports on sockets of their own. A number that says that there is no way to the host means
    /// ``offline`` only while connecting, when nothing has been sent: a connection that stands can end
    /// by it too (`tcp(7)`), and the server may then have acted on the request.
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

    /// What a number means that `getaddrinfo` gave for a name it did not find.
    ///
    /// - Parameter number: The number, one of `EAI_…`.
    package init(lookupFailure number: Int) {
        let passing = [EAI_AGAIN, EAI_SYSTEM, EAI_MEMORY, EAI_FAIL].map { Int($0) }
        self = passing.contains(number) ? .nameLookupFailed : .hostNotFound
    }
}
