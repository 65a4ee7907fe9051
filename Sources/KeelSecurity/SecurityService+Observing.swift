#if Crypto
/// One call of a security service, without data and keys.
public struct SecurityObservation: Sendable, Hashable {
    /// The calls that are told of.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// Data was to be encrypted.
        case encrypt
        /// Data was to be decrypted.
        case decrypt
    }

    /// The method.
    public let operation: Operation
    /// How many bytes it was given.
    public let byteCount: Int
    /// How long it took.
    public let duration: Duration
    /// The code of the failure; nil for a success.
    public let failure: SecurityError.Code?
}

extension SecurityService {
    /// Tells of each encryption and decryption, for logs and metrics of whatever library.
    ///
    /// Hashes and random bytes are not told of: they cannot fail for a reason that somebody could
    /// mend.
    ///
    /// - Parameter observer: Is told after each call, on its thread.
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
