import Testing
@testable import KeelHTTPCaching
