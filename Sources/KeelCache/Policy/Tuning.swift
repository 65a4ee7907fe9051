@_spi(Simulation) public enum Tuning: Sendable { nonisolated(unsafe) public static var v: [Double] = [1/128.0, 0, 10, 4, 0.7, 1.005, 1024, -1, 0, 0] 
nonisolated(unsafe) public static var log = false }
