package import KeelHTTP

/// A transport of a test, with no features and nothing to shut down unless it says otherwise.
package protocol HTTPTransportDouble: HTTPTransport {}

extension HTTPTransportDouble {
    package var features: HTTPTransportFeatures { [] }

    package func shutdown() async {}
}
