#if Crypto
/// A record of one call to a security service, without data and keys.
public struct SecurityObservation: Sendable, Hashable {
    /// The calls that are observed.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// The call encrypted data.
        case encrypt
        /// The call decrypted data.
        case decrypt
    }

    /// The operation.
    public let operation: Operation
    /// The number of bytes to encrypt or decrypt, without associated data.
    public let byteCount: Int
    /// The duration of the call.
    public let duration: Duration
    /// The error code of a failed call; nil for a success.
    public let failure: SecurityError.Code?
}

extension SecurityService {
    /// Returns a service that reports each encryption and decryption, but not hashing and random bytes.
    ///
    /// - Parameter observer: Called after each call, on the thread of the call.
    /// - Returns: A service with the same keys.
    public func observed(
        by observer: @escaping @Sendable (SecurityObservation) -> Void
    ) -> SecurityService {
        var service = self
        let inner = self.observer
        service.observer = { observation in
            inner?(observation)
            observer(observation)
        }
        return service
    }

    func observed<Value>(
        _ operation: SecurityObservation.Operation,
        _ byteCount: Int,
        _ call: () throws(SecurityError) -> Value
    ) throws(SecurityError) -> Value {
        guard let observer else { return try call() }
        let start = ContinuousClock.now
        func tell(_ failure: SecurityError.Code?) {
            observer(
                SecurityObservation(
                    operation: operation,
                    byteCount: byteCount,
                    duration: ContinuousClock.now - start,
                    failure: failure
                )
            )
        }
        do throws(SecurityError) {
            let value = try call()
            tell(nil)
            return value
        } catch {
            tell(error.code)
            throw error
        }
    }
}
#endif
