//! Polls a PLC over Modbus TCP.
